import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { benchmarks } from '../../../bench/index.ts';
import { readResults, resultsFile, writeResults } from '../../../bench/results.ts';

const side = { median: 1, min: 1, max: 1 };
const measured = (name: string, commit: string) => ({
  ...{ name, compares: 'a with b', date: '2030-01-01T00:00:00Z', commit },
  machine: { processor: 'p', cores: 2, memoryGiB: 4, system: 'linux 6.1 x64', node: '24.0.0' },
  versions: { etcd: '3.6.8' },
  rows: [{ what: 'x', unit: 's', ours: side, theirs: side, ratio: 1, repetitions: 1 }],
});

t.test('a result replaces the earlier one of its benchmark and no other', async (t) => {
  const path = join(t.testdir(), 'results.json');
  await writeResults(measured('b', 'old'), path);
  await writeResults(measured('a', 'other'), path);
  await writeResults(measured('b', 'new'), path);
  t.strictSame(await readResults(path), {
    benchmarks: [measured('a', 'other'), measured('b', 'new')],
  });
});

t.test('the committed results can be read and belong to existing benchmarks', async (t) => {
  const known = benchmarks.map(({ name }) => name);
  t.equal(new Set(known).size, known.length, 'each name once');
  for (const { name } of (await readResults()).benchmarks) t.ok(known.includes(name), name);
  t.notMatch(await readFile(resultsFile, 'utf8'), /"\/\w/, 'no path');
});
