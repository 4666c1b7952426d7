import { truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { tracesOn } from '../../../lab/raw-disk.ts';

const signal = AbortSignal.timeout(60_000);
const CHUNK = 4 << 20;

t.test('a trace is found wherever it is on a disk, and nothing else', async (t) => {
  const disk = join(t.testdir(), 'disk.raw');
  const traces = ['first', 'across', 'last', 'absent'].map((name) => ({
    name,
    bytes: Buffer.from(`the contents of ${name}`),
  }));
  const contents = Buffer.alloc(2 * CHUNK + 100);
  const put = (name: string, at: number) =>
    traces.find((trace) => trace.name === name)?.bytes.copy(contents, at);
  put('first', 0);
  put('across', CHUNK - 5);
  put('last', contents.length - Buffer.byteLength('the contents of last'));
  await writeFile(disk, contents);
  t.same(await tracesOn(disk, traces, signal), ['across', 'first', 'last']);
  await truncate(disk, 0);
  await truncate(disk, 3 * CHUNK);
  t.same(await tracesOn(disk, traces, signal), [], 'an empty disk has none');
});

t.test('not every byte is looked at, and no place is missed', async (t) => {
  const disk = join(t.testdir(), 'disk.raw');
  const traces = Array.from({ length: 200 }, (_, at) => ({
    name: `${at}`,
    bytes: Buffer.from(`the contents of trace number ${at}${' and more'.repeat(at % 7)}`),
  }));
  // Each at another distance from wherever one looks.
  const contents = traces.flatMap(({ bytes }, at) => [bytes, Buffer.alloc(200 + at)]);
  await writeFile(disk, Buffer.concat(contents));
  const absent = { name: 'absent', bytes: Buffer.from('the contents of trace number -') };
  const expected = traces.map(({ name }) => name).toSorted();
  t.same(await tracesOn(disk, [...traces, absent], signal), expected);
});
