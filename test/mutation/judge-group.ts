import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Baseline, type Broken, baselineOf, reaches } from './baseline.ts';
import { compiles } from './compile.ts';
import type { Group } from './groups.ts';
import { lineOf, type Mutant, type MutantName, mutated, nameOf } from './mutant.ts';
import { mutantsOf } from './mutate.ts';
import { noticedIn } from './noticed.ts';
import { runTestFile } from './run-tests.ts';
import { sample } from './sample.ts';
import { filesOf, withText } from './tree.ts';

export interface Verdict extends MutantName {
  /** 1 for the first line. */
  readonly line: number;
  /** `uncovered`: no test file executes the changed code. `invalid`: the type checker refuses it. */
  readonly fate: 'killed' | 'timeout' | 'survived' | 'uncovered' | 'invalid';
}

export interface GroupResult {
  readonly group: string;
  /** Names of all mutants of the group, including those not tried. */
  readonly names: readonly MutantName[];
  readonly verdicts: readonly Verdict[];
  /** Test files that fail without a mutation; they are left out. */
  readonly broken: readonly Broken[];
}

export interface Options {
  /** One copy of the repository per job. */
  readonly trees: readonly string[];
  readonly seed: string;
  /** Number of mutants tried per group. */
  readonly count: number;
  readonly onlyFiles: RegExp;
  readonly onVerdict: (verdict: Verdict) => void;
  /** After its abort no further mutant is started; the verdicts so far are returned. */
  readonly stop: AbortSignal;
}

interface Candidate extends Mutant {
  readonly text: string;
  readonly name: MutantName;
}

/** Tests the group's mutants, or a sample of them, with the test files that execute the changed code. */
export async function judgeGroup(group: Group, options: Options): Promise<GroupResult> {
  const [first = ''] = options.trees;
  const candidates = await candidatesOf(group, first);
  const files = await filesOf(first, group.tests);
  const tried = await onEachTree(options, files, baselineOf);
  const baselines = tried.filter((it) => 'covered' in it);
  const broken = tried.filter((it) => 'output' in it);
  const wanted = candidates.filter(({ file }) => options.onlyFiles.test(file));
  const chosen = sample(wanted, options.count, options.seed, ({ name }) => JSON.stringify(name));
  const kills = new Map<string, number>();
  const verdicts = await onEachTree(options, chosen, async (tree, candidate) => {
    const fate = await fateOf(tree, candidate, baselines, kills);
    const verdict = { ...candidate.name, line: lineOf(candidate.text, candidate), fate };
    options.onVerdict(verdict);
    return verdict;
  });
  return { group: group.name, names: candidates.map(({ name }) => name), verdicts, broken };
}

async function candidatesOf(group: Group, tree: string): Promise<Candidate[]> {
  const candidates: Candidate[] = [];
  for (const file of await filesOf(tree, group.sources, group.excluded)) {
    const text = await readFile(join(tree, file), 'utf8');
    for (const mutant of mutantsOf(file, text)) {
      candidates.push({ ...mutant, text, name: nameOf(text, mutant) });
    }
  }
  return candidates;
}

/** How much sooner a test file is tried that is about the changed file. */
const ABOUT_IT = 5;

/** Test files that killed a nearby mutant come first, then those that are about the changed file, then fast ones. */
async function fateOf(
  tree: string,
  candidate: Candidate,
  baselines: readonly Baseline[],
  kills: Map<string, number>,
): Promise<Verdict['fate']> {
  const { file, start } = candidate;
  const key = (baseline: Baseline) => `${file} ${baseline.file}`;
  const weight = (it: Baseline) =>
    it.durationMs / (1 + (kills.get(key(it)) ?? 0)) / (it.imports.has(file) ? ABOUT_IT : 1);
  const tests = baselines
    .filter((baseline) => reaches(baseline, file, start))
    .sort((a, b) => weight(a) - weight(b));
  for (const test of tests) {
    const noticed = await noticedBy(tree, candidate, test);
    if (noticed === undefined) continue;
    kills.set(key(test), (kills.get(key(test)) ?? 0) + 1);
    return noticed;
  }
  const { text } = candidate;
  const texts = { meanwhile: mutated(text, candidate), afterwards: text };
  if (!(await withText(tree, file, texts, () => compiles(tree)))) return 'invalid';
  return tests.length === 0 ? 'uncovered' : 'survived';
}

/** How the test file notices the mutant. Undefined if it does not, or if the machine can be the cause. */
async function noticedBy(
  tree: string,
  candidate: Candidate,
  test: Baseline,
): Promise<'killed' | 'timeout' | undefined> {
  const { file, text } = candidate;
  const texts = { meanwhile: mutated(text, candidate), afterwards: text };
  return await noticedIn(test, {
    mutated: (deadlineMs) =>
      withText(tree, file, texts, () => runTestFile(tree, test.file, deadlineMs, {})),
    unchanged: (deadlineMs) => runTestFile(tree, test.file, deadlineMs, {}),
  });
}

/** Processes each item in a free tree until the stop; results are in the order of the items. */
async function onEachTree<T, R>(
  { trees, stop }: Pick<Options, 'trees' | 'stop'>,
  items: readonly T[],
  action: (tree: string, item: T) => Promise<R>,
): Promise<R[]> {
  const queue = items.entries();
  const results: [number, R][] = [];
  const workers = trees.map(async (tree) => {
    for (const [index, item] of queue) {
      if (stop.aborted) return;
      results.push([index, await action(tree, item)]);
    }
  });
  await Promise.all(workers);
  return results.sort(([a], [b]) => a - b).map(([, result]) => result);
}
