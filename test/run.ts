/**
 * `npm test`: the checks of format and types, then each tier of tests, in the order of
 * their cost. What this machine cannot run is skipped by name. The last line printed is
 * `N passed, N failed, N skipped`; the exit code is 1 if something failed.
 *
 * Arguments name what to run: lint, unit, integration, e2e; none means all.
 */
import { join } from 'node:path';
import { execa } from 'execa';
import { describeError } from '../lib/errors/failure.ts';
import { addTally, emptyTally, type Tally, type TallyEvents } from './runner/tally.ts';
import { runTier } from './runner/tap.ts';
import { missingFor, TIERS } from './runner/tiers.ts';

const LINT_DEADLINE_MS = 120_000;
const root = join(import.meta.dirname, '..');
const modules = join(root, 'node_modules');

const LINTERS = [
  {
    name: 'format and lint',
    program: '@biomejs/cli-linux-x64/biome',
    args: ['check', '--error-on-warnings'],
  },
  { name: 'types', program: '.bin/tsc', args: ['--noEmit', '-p', root] },
] as const;

const print = (line: string) => process.stdout.write(`${line}\n`);
const indent = (text: string) => text.trimEnd().replaceAll(/^/gm, '        ');
const inWords = ({ passed, failed, skipped }: Tally) =>
  `${passed} passed, ${failed} failed, ${skipped} skipped`;

const events: TallyEvents = {
  onFile: (name, tally) =>
    print(`  ${tally.failed === 0 ? 'ok  ' : 'FAIL'}  ${name}: ${inWords(tally)}`),
  onFailure: (name, detail) => print(`  FAIL  ${name}\n${indent(detail)}`),
  onSkip: (name, reason) => print(`  skip  ${name}: ${reason}`),
};

async function lint(signal: AbortSignal): Promise<Tally> {
  const tally = emptyTally();
  for (const { name, program, args } of LINTERS) {
    const result = await execa(join(modules, program), args, {
      cwd: root,
      all: true,
      reject: false,
      timeout: LINT_DEADLINE_MS,
      cancelSignal: signal,
    });
    tally[result.failed ? 'failed' : 'passed'] += 1;
    if (result.failed) events.onFailure(`${name}`, result.all || describeError(result));
    else print(`  ok    ${name}`);
  }
  return tally;
}

async function run(wanted: (name: string) => boolean, signal: AbortSignal): Promise<Tally> {
  const total = emptyTally();
  if (wanted('lint')) {
    print('lint');
    addTally(total, await lint(signal));
  }
  for (const tier of TIERS.filter(({ name }) => wanted(name))) {
    print(tier.name);
    const missing = await missingFor(tier);
    if (missing.length === 0) {
      addTally(total, await runTier(root, tier, events, signal));
    } else {
      events.onSkip(`all ${tier.name} tests`, `this machine has no ${missing.join(', no ')}`);
      total.skipped += 1;
    }
  }
  return total;
}

const names = process.argv.slice(2);
const known = ['lint', ...TIERS.map(({ name }) => name)];
const unknown = names.filter((name) => !known.includes(name));
if (unknown.length > 0) {
  process.stderr.write(`Unknown: ${unknown.join(', ')}. Name some of ${known.join(', ')}.\n`);
  process.exit(2);
}

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
const total = await run((name) => names.length === 0 || names.includes(name), stop.signal);
print(inWords(total));
process.exitCode = total.failed === 0 ? 0 : 1;
