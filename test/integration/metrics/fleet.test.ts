/** Alerts and panels of a fleet, judged by Prometheus' own program. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import t from 'tap';
import { z } from 'zod';
import { ensureComponent } from '../../../lab/components/component.ts';
import { missingPrerequisites } from '../../../lab/components/debian-packages.ts';
import { promtool } from '../../../lab/components/promtool.ts';
import { readGoDocuments } from '../../../lib/base/go-yaml/read.ts';
import { writeGoYaml } from '../../../lib/base/go-yaml/write.ts';

const signal = AbortSignal.timeout(6 * 60_000);
const folder = join(import.meta.dirname, '../../../deploy/fleet/metrics');
const lacks = await missingPrerequisites();
const ruleSchema = z.object({ value: z.looseObject({ kind: z.string(), spec: z.unknown() }) });
const dashboardSchema = z.looseObject({
  panels: z.array(z.looseObject({ targets: z.array(z.looseObject({ expr: z.string() })) })),
});

t.test('what Prometheus says', { skip: lacks.length > 0 && lacks.join('; ') }, async (t) => {
  const program = join(
    await ensureComponent(promtool, { signal, report: (line) => t.comment(line) }),
    'promtool',
  );
  const work = t.testdir();
  const judge = (...args: string[]) =>
    execa(program, args, { all: true, reject: false, timeout: 60_000 });
  const written = (name: string, contents: unknown) => {
    const path = join(work, name);
    writeFileSync(path, typeof contents === 'string' ? contents : writeGoYaml(contents));
    return path;
  };

  t.test('the alerts are valid rules, and each fires for its symptom alone', async (t) => {
    const text = readFileSync(join(folder, 'prometheus-operator.yaml'), 'utf8');
    const [, rule] = z.tuple([z.unknown(), ruleSchema]).parse(readGoDocuments(text));
    t.equal(rule.value.kind, 'PrometheusRule');
    const rules = written('rules.yaml', rule.value.spec);
    const checked = await judge('check', 'rules', rules);
    t.equal(checked.exitCode, 0, checked.all);
    const cases = readFileSync(join(import.meta.dirname, 'fleet-alerts.test.yaml'), 'utf8');
    const tested = await judge('test', 'rules', written('t.yaml', cases.replace('ALERTS', rules)));
    t.equal(tested.exitCode, 0, tested.all);
  });

  t.test('the panels have valid expressions', async (t) => {
    const text = readFileSync(join(folder, 'dashboard.json'), 'utf8');
    const { panels } = dashboardSchema.parse(JSON.parse(text));
    const expressions = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
    const asRules = (all: readonly string[]) => ({
      groups: [
        { name: 'panels', rules: all.map((expr, at) => ({ record: `panel:${at}:x`, expr })) },
      ],
    });
    const filled = expressions.map((expr) => expr.replaceAll(/\$(?:namespace|wave)/g, '.*'));
    const checked = await judge('check', 'rules', written('panels.yaml', asRules(filled)));
    t.equal(checked.exitCode, 0, checked.all);
    const broken = await judge('check', 'rules', written('b.yaml', asRules(['sum by (x) ('])));
    t.not(broken.exitCode, 0, 'it finds faults');
  });
});
