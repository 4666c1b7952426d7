import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import t from 'tap';
import { ensureComponent } from '../../../lab/components/component.ts';
import { missingPrerequisites } from '../../../lab/components/debian-packages.ts';
import { promtool } from '../../../lab/components/promtool.ts';
import { exposition } from '../../../lib/engine/metrics/exposition.ts';
import { everySample } from '../../unit/engine/metrics/samples.ts';

const signal = AbortSignal.timeout(6 * 60_000);
const alerts = join(import.meta.dirname, '../../../docs/alerts.yaml');
const lacks = await missingPrerequisites();

t.test(
  'what Prometheus says of metrics and alerts',
  { skip: lacks.length > 0 && lacks.join('; ') },
  async (t) => {
    const folder = await ensureComponent(promtool, { signal, report: (line) => t.comment(line) });
    const judge = (args: readonly string[], input = '') =>
      execa(join(folder, 'promtool'), args, { input, all: true, reject: false, timeout: 60_000 });

    t.test('every metric is well formed and well named', async (t) => {
      const { exitCode, all } = await judge(['check', 'metrics'], exposition(everySample()));
      t.equal(all, '');
      t.equal(exitCode, 0);
      const broken = await judge(['check', 'metrics'], 'sno_x{a="b} 1\n');
      t.not(broken.exitCode, 0, 'it finds faults');
    });

    t.test('the alerts are valid rules, and each fires for its symptom alone', async (t) => {
      const checked = await judge(['check', 'rules', alerts]);
      t.equal(checked.exitCode, 0, checked.all);
      const cases = await readFile(join(import.meta.dirname, 'alerts.test.yaml'), 'utf8');
      const file = join(t.testdir(), 'alerts.test.yaml');
      await writeFile(file, cases.replace('ALERTS', alerts));
      const tested = await judge(['test', 'rules', file]);
      t.equal(tested.exitCode, 0, tested.all);
    });
  },
);
