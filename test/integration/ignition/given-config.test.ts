/** What a person's Ignition config has wrong, judged by Ignition itself: nothing that it refuses or reads over is missed. */
import { join } from 'node:path';
import { execa } from 'execa';
import t, { type Test } from 'tap';
import { z } from 'zod';
import { butane, IGNITION_REPORTS } from '../../../lab/components/butane.ts';
import { ensureComponent } from '../../../lab/components/component.ts';
import { validateGivenConfig } from '../../../lib/render/ignition/given-config.ts';
import { combinedConfigs, configsWithTexts } from './combined-cases.ts';
import { configsOfVersions, faultyConfigs, type SpecCase } from './spec-cases.ts';

const folder = await ensureComponent(butane, {
  signal: AbortSignal.timeout(15 * 60_000),
  report: (line) => t.comment(line),
});

async function reportsOf(configs: readonly string[]): Promise<string[][]> {
  const { stdout } = await execa(join(folder, IGNITION_REPORTS), [], {
    ...{ input: JSON.stringify(configs), timeout: 5 * 60_000, maxBuffer: 256 * 2 ** 20 },
  });
  return z.array(z.array(z.string())).parse(JSON.parse(stdout));
}

/** Warnings about what is not wrong: nulls, and what a person may want. */
const ALLOWED = /context tree does not match|insecure plaintext HTTP proxy|no install section/;
/** What is refused here, since no host can use what Ignition writes then. */
const STRICTER =
  /passwordHash that is none|logs nobody in|begin with a section|remote config|^passwd\.\w+\[\d\](?:\.name)? |\.name expected a text, found nothing|\] expected a (?:text|mapping), found nothing/;
/** Ignition takes the root itself for the path of a file, and then cannot write it. */
const ROOT = /^storage\.(?:files|links|directories)\.\d\.path = "\/"$/;

async function compare(t: Test, cases: readonly SpecCase[]): Promise<void> {
  const texts = cases.map(({ config }) => JSON.stringify(config));
  const reports = await reportsOf(texts);
  for (const [index, { name }] of cases.entries()) {
    if (ROOT.test(name)) continue;
    const judge = (reports[index] ?? []).filter((line) => !ALLOWED.test(line));
    const ours = validateGivenConfig(texts[index] ?? '').map(
      ({ at, problem }) => `${at} ${problem}`,
    );
    const agree = judge.length > 0 ? ours.length > 0 : ours.every((line) => STRICTER.test(line));
    if (!agree) t.fail(name, { judge, ours });
  }
  t.pass(`${cases.length} compared`);
}

t.test('each place of a config with another value', (t) => compare(t, faultyConfigs()));
t.test('each place in each version of the spec', (t) => compare(t, configsOfVersions()));
t.test('what is wrong in two places together', (t) => compare(t, combinedConfigs()));
t.test('texts of units, modes and URLs', (t) => compare(t, configsWithTexts()));
