/**
 * `npm run test:mutation [-- GROUP... --sample N --seed S --jobs J --file REGEXP]`: changes critical
 * sources one place at a time, and runs the unit tests that execute that place. A group fails if its
 * tests detect less than 95 % of the mutants, or if test/mutation/survivors.json explains a mutant
 * that does not survive. SIGINT and SIGTERM end the run with the scores so far. Exit code: 0,
 * 1 if a group failed or the run was stopped, 2 for invalid arguments.
 *
 * All groups take hours of processor time; a sample of each gives about the same result.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join, matchesGlob } from 'node:path';
import { parseArgs } from 'node:util';
import { GROUPS, type Group } from './groups.ts';
import { judgeGroup, type Verdict } from './judge-group.ts';
import { type Score, scoreOf } from './score.ts';
import { readSurvivors } from './survivors.ts';
import { copyTree } from './tree.ts';

const LONGEST_LINE = 160;
const root = join(import.meta.dirname, '..', '..');
const print = (line: string) => process.stdout.write(`${line}\n`);

function wanted() {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      sample: { type: 'string', default: 'Infinity' },
      seed: { type: 'string', default: '1' },
      jobs: { type: 'string', default: String(availableParallelism()) },
      file: { type: 'string', default: '' },
    },
  });
  const known = GROUPS.map(({ name }) => name);
  const unknown = positionals.filter((name) => !known.includes(name));
  const count = Number(values.sample);
  const jobs = Number(values.jobs);
  if (unknown.length > 0) {
    throw new Error(`Unknown group ${unknown.join(', ')}. Name some of ${known.join(', ')}.`);
  }
  if (!(count >= 1)) throw new Error('--sample takes a number of mutants, from 1');
  if (!(Number.isInteger(jobs) && jobs >= 1)) throw new Error('--jobs takes an integer, from 1');
  const groups = GROUPS.filter(
    ({ name }) => positionals.length === 0 || positionals.includes(name),
  );
  return { groups, count, jobs, seed: values.seed, onlyFiles: new RegExp(values.file) };
}

function describe({ file, line, operator, before, after, fate }: Verdict): string {
  const short = (text: string) =>
    text.length > LONGEST_LINE ? `${text.slice(0, LONGEST_LINE)}...` : text;
  return `  ${fate}  ${file}:${line}  ${operator}\n      - ${short(before)}\n      + ${short(after)}`;
}

function summarise({
  group,
  killed,
  timeouts,
  unexplained,
  explained,
  invalid,
  score,
}: Score): string {
  const percent = `${(100 * score).toFixed(1)} %`.padStart(7);
  return `${percent}  ${group}: ${killed} killed, ${timeouts} timed out, ${unexplained.length} survived, ${explained} explained, ${invalid} refused by the type checker`;
}

function belongsTo({ sources }: Group): (name: { readonly file: string }) => boolean {
  return ({ file }) => sources.some((pattern) => matchesGlob(file, pattern));
}

async function run(options: ReturnType<typeof wanted>, stop: AbortSignal): Promise<boolean> {
  const survivors = await readSurvivors(join(import.meta.dirname, 'survivors.json'));
  const folder = await mkdtemp(join(tmpdir(), 'mutation-'));
  try {
    const trees = Array.from({ length: options.jobs }, (_, index) => join(folder, String(index)));
    for (const tree of trees) await copyTree(root, tree);
    const scores: Score[] = [];
    for (const group of options.groups) {
      if (stop.aborted) break;
      const onVerdict = (verdict: Verdict) => {
        if (verdict.fate === 'survived' || verdict.fate === 'uncovered') print(describe(verdict));
      };
      const result = await judgeGroup(group, { ...options, trees, onVerdict, stop });
      const score = scoreOf(result, survivors, belongsTo(group));
      scores.push(score);
      print(summarise(score));
    }
    for (const { group, faults } of scores)
      for (const fault of faults) print(`FAIL  ${group}: ${fault}`);
    if (stop.aborted) print('Stopped: the last score is of the mutants tried so far.');
    return !stop.aborted && scores.every(({ faults }) => faults.length === 0);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
try {
  process.exitCode = (await run(wanted(), stop.signal)) ? 0 : 1;
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
}
