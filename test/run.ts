/**
 * `npm test`: checks format and types, then runs each tier of tests, cheapest first. What this
 * machine cannot run is skipped by name. The last line printed is
 * `N passed, N failed, N skipped`; the exit code is 1 if anything failed.
 *
 * Arguments select what to run: lint (format and types), format, types, unit, integration, e2e; test
 * files or folders of them; `--watch` runs it again after each change.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { watch } from 'chokidar';
import { type Wanted, wantedBy } from './runner/arguments.ts';
import { installLabPackages } from './runner/lab-packages.ts';
import { lint } from './runner/lint.ts';
import { addTally, emptyTally, type Tally, type TallyEvents } from './runner/tally.ts';
import { runTier } from './runner/tap.ts';
import { missingFor, TIERS } from './runner/tiers.ts';

const root = join(import.meta.dirname, '..');

const print = (line: string) => process.stdout.write(`${line}\n`);
const indent = (text: string) => text.trimEnd().replaceAll(/^/gm, '        ');
const inWords = ({ passed, failed, skipped }: Tally) =>
  `${passed} passed, ${failed} failed, ${skipped} skipped`;

const events: TallyEvents = {
  onFile: (name, tally, seconds) =>
    print(
      `  ${tally.failed === 0 ? 'ok  ' : 'FAIL'}  ${name}: ${inWords(tally)} (${seconds.toFixed(1)} s)`,
    ),
  onFailure: (name, detail) => print(`  FAIL  ${name}\n${indent(detail)}`),
  onSkip: (name, reason) => print(`  skip  ${name}: ${reason}`),
};

/** Processor time of the processes that this one has started and that have ended, in seconds. */
function childrensSeconds(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  // cutime and cstime of proc(5), in the hundredths of seconds in which Linux gives them.
  return (Number(fields[13]) + Number(fields[14])) / 100;
}

async function run({ parts, files }: Wanted, signal: AbortSignal): Promise<Tally> {
  const total = emptyTally();
  const linters = parts.filter((part) => part === 'lint' || part === 'format' || part === 'types');
  if (linters.length > 0) {
    print('lint');
    addTally(total, await lint(root, linters, events, signal));
  }
  for (const tier of TIERS.filter(({ name }) => parts.includes(name))) {
    print(tier.name);
    const missing = await missingFor(tier);
    const own = files.filter((file) => file.startsWith(`test/${tier.name}/`));
    if (missing.length === 0) {
      if (tier.needsLabPackages) await installLabPackages(signal, print);
      const before = childrensSeconds();
      addTally(total, await runTier(tier, { root, files: own, events, signal }));
      print(`  ${tier.name}: ${(childrensSeconds() - before).toFixed(0)} s of processor time`);
    } else {
      events.onSkip(`all ${tier.name} tests`, `this machine has no ${missing.join(', no ')}`);
      total.skipped += 1;
    }
  }
  return total;
}

/** One run after another, each started by a change since the start of the previous one. */
async function runAtEachChange(wanted: Wanted, signal: AbortSignal): Promise<void> {
  let changed = Promise.withResolvers<void>();
  const folders = ['agents', 'report', 'lib', 'cli', 'units', 'test', 'docs', 'build', 'lab'];
  const watcher = watch(
    folders.map((folder) => join(root, folder)),
    { ignoreInitial: true },
  );
  watcher.on('all', () => changed.resolve());
  signal.addEventListener('abort', () => changed.resolve(), { once: true });
  while (!signal.aborted) {
    changed = Promise.withResolvers<void>();
    print(inWords(await run(wanted, signal)));
    if (!signal.aborted) await changed.promise;
  }
  await watcher.close();
}

const wanted = wantedBy(process.argv.slice(2), root, process.cwd());
if (typeof wanted === 'string') {
  process.stderr.write(`${wanted}\n`);
  process.exit(2);
}
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
if (wanted.watch) {
  await runAtEachChange(wanted, stop.signal);
} else {
  const total = await run(wanted, stop.signal);
  print(inWords(total));
  process.exitCode = total.failed === 0 ? 0 : 1;
}
