import { createReadStream } from 'node:fs';
import { copyFile, mkdir, stat, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { hostArchitecture, layBaseNode } from '../build/base-node.ts';
import { buildExecutables } from '../build/build.ts';
import { distFolder, repository } from '../lab/paths.ts';
import { run } from '../lib/host/command.ts';
import type { BenchContext, Benchmark, Row } from './benchmark.ts';
import { expectGnuTime, measureProcess } from './measured-process.ts';
import { compare, interleaved } from './statistics.ts';

const REPETITIONS = 25;
const START_DEADLINE_MS = 30_000;
const GZIP_LEVEL = 9;
const MIB = 2 ** 20;

/** How much more than plain Node the executables may need. */
const GOAL = { gzipPercent: 5, startMs: 40, residentMiB: 25 };

/** Our executables compared with the Node that they contain, stripped and running an empty script. */
export const executables: Benchmark = {
  name: 'executables',
  compares:
    'the executables compared with plain Node, stripped in the same way and running an empty script',
  deadlineMs: 20 * 60_000,
  async run(signal, context) {
    await expectGnuTime();
    context.report('building the executables');
    const { agents, cli } = await buildExecutables({ root: repository, dist: distFolder }, signal);
    const node = await layBaseNode(hostArchitecture(), join(distFolder, 'build'), signal);
    const copies = await copied(
      { node, whole: process.execPath, agents: agents.path, cli: cli.path },
      context.folder,
    );
    const rows: Row[] = [];
    for (const executable of [copies.agents, copies.cli]) {
      const name = basename(executable);
      context.report(`compressing ${name}`);
      rows.push(await sizeRow(`${name}, size`, executable, copies.node, size));
      rows.push(
        await sizeRow(`${name}, size, gzip`, executable, copies.node, gzipSize, GOAL.gzipPercent),
      );
      rows.push(
        await sizeRow(
          `${name}, size, gzip (compared with unstripped Node)`,
          executable,
          copies.whole,
          gzipSize,
        ),
      );
    }
    const starts = await startsOf(copies, context, signal);
    for (const start of starts) {
      context.report(`starting ${start.what}`);
      rows.push(...(await startRows(start, copies.node, context.folder, signal)));
    }
    return { rows, versions: { node: process.versions.node } };
  },
};

export type Files<Name extends string> = Record<Name, string>;

/**
 * Copies all files, so that they have the same age: how much of a file becomes resident on access
 * depends on how it got into the page cache.
 */
export async function copied<Name extends string>(
  files: Files<Name>,
  folder: string,
): Promise<Files<Name>> {
  const copies = { ...files };
  for (const name in files) {
    const copy = join(folder, name, basename(files[name]));
    await mkdir(join(folder, name));
    await copyFile(files[name], copy);
    copies[name] = copy;
  }
  return copies;
}

const size = async (path: string) => (await stat(path)).size;

async function gzipSize(path: string): Promise<number> {
  let bytes = 0;
  await pipeline(createReadStream(path), createGzip({ level: GZIP_LEVEL }), async (chunks) => {
    for await (const chunk of chunks) bytes += chunk.length;
  });
  return bytes;
}

async function sizeRow(
  what: string,
  ours: string,
  theirs: string,
  measure: (path: string) => Promise<number>,
  goalPercent?: number,
): Promise<Row> {
  const quantity = { what, unit: 'MiB' };
  const row = compare(quantity, [(await measure(ours)) / MIB], [(await measure(theirs)) / MIB]);
  if (goalPercent === undefined || row.ratio === null) return row;
  const percent = ((row.ratio - 1) * 100).toFixed(1);
  return { ...row, note: `${percent} % more than plain Node; the goal is at most ${goalPercent}` };
}

interface Start {
  what: string;
  program: string;
  args: string[];
}

/** Each name of an executable, with a command that works on any machine. */
async function startsOf(
  { agents, cli }: { agents: string; cli: string },
  { folder }: BenchContext,
  signal: AbortSignal,
): Promise<Start[]> {
  const names = await run(agents, ['names'], { signal, deadlineMs: START_DEADLINE_MS });
  const plans: Start[] = [];
  for (const name of names.split('\n').filter((line) => line !== '')) {
    const link = join(folder, name);
    await symlink(agents, link);
    plans.push({ what: `${name} plan`, program: link, args: ['plan'] });
  }
  return [
    { what: 'sno-agents --version', program: agents, args: ['--version'] },
    ...plans,
    { what: 'sno --version', program: cli, args: ['--version'] },
  ];
}

async function startRows(
  { what, program, args }: Start,
  node: string,
  folder: string,
  signal: AbortSignal,
): Promise<Row[]> {
  const empty = join(folder, 'empty.js');
  await writeFile(empty, '');
  const limits = { signal, deadlineMs: START_DEADLINE_MS };
  const pairs = await interleaved(
    REPETITIONS,
    () => measureProcess(program, args, folder, limits),
    () => measureProcess(node, [empty], folder, limits),
  );
  const time = compare(
    { what: `${what}, start`, unit: 'ms' },
    pairs.map(({ ours }) => ours.wallSeconds * 1000),
    pairs.map(({ theirs }) => theirs.wallSeconds * 1000),
  );
  const memory = compare(
    { what: `${what}, resident memory`, unit: 'MiB' },
    pairs.map(({ ours }) => ours.peakMiB),
    pairs.map(({ theirs }) => theirs.peakMiB),
  );
  return [
    { ...time, note: `${more(time)} ms more than plain Node; the goal is at most ${GOAL.startMs}` },
    {
      ...memory,
      note: `${more(memory)} MiB more than plain Node; the goal is at most ${GOAL.residentMiB}`,
    },
  ];
}

const more = ({ ours, theirs }: Row) => Math.round(ours.median - theirs.median);
