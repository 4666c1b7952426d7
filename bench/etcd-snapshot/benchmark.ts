import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ETCD_VERSION } from '../../lab/components/versions.ts';
import { etcdBinaries } from '../../lab/servers/binaries.ts';
import { type EtcdMember, makeTls, startEtcd } from '../../lab/servers/etcd-member.ts';
import type { BenchContext, Benchmark, Row } from '../benchmark.ts';
import { bundledProgram } from '../bundled-program.ts';
import { expectGo } from '../go.ts';
import { expectGnuTime, measureProcess, type ProcessCost } from '../measured-process.ts';
import { compare, interleaved, type Pair } from '../statistics.ts';
import { fillEtcd } from './fill.ts';

const GIB = 2 ** 30;
const REPETITIONS = 5;
const ONE_MS = 120_000;
const FILL_MS = 10 * 60_000;
const note =
  'etcdctl copies, syncs and renames; ours also computes the SHA-256, compares it with the one ' +
  'that etcd sent, and verifies that nothing was written during the snapshot.';

export const etcdSnapshot: Benchmark = {
  name: 'etcd-snapshot',
  compares:
    'a snapshot of an etcd with 1 GiB of values: bootkube compared with etcdctl snapshot save',
  deadlineMs: 40 * 60_000,
  async run(signal, context) {
    await expectGo();
    await expectGnuTime();
    const programs = await etcdBinaries(signal);
    const { folder } = context;
    const member = await startEtcd(programs.etcd, folder, join(folder, 'data'), await makeTls(), {
      lifetimeMs: 30 * 60_000,
      args: [`--quota-backend-bytes=${4 * GIB}`],
    });
    try {
      await fill(member, signal, context);
      const pairs = await takeBoth(member, programs.etcdctl, signal, context);
      return { rows: rowsOf(pairs), versions: { etcd: ETCD_VERSION } };
    } finally {
      await member.stop();
    }
  },
};

/** Fills, compacts and defragments etcd, as bootkube does before the snapshot. */
async function fill(member: EtcdMember, signal: AbortSignal, { report }: BenchContext) {
  report('filling etcd');
  const count = await fillEtcd(member, GIB, signal);
  const limits = { signal, deadlineMs: FILL_MS };
  await member.client.compact(await member.client.revision(limits), true, limits);
  await member.client.defragment(limits);
  const { dbSize } = await member.client.status(limits);
  report(`${count} keys, a database of ${Math.round(dbSize / 2 ** 20)} MiB`);
}

async function takeBoth(
  member: EtcdMember,
  etcdctl: string,
  signal: AbortSignal,
  { folder, report }: BenchContext,
): Promise<Pair<ProcessCost>[]> {
  const { ca, cert, key } = member.files;
  const take = await bundledProgram(join(import.meta.dirname, 'take.ts'), folder);
  const target = join(folder, 'snapshot.db');
  const sizes = new Set<number>();
  const measured = async (name: string, program: string, args: readonly string[]) => {
    const cost = await measureProcess(program, args, folder, { signal, deadlineMs: ONE_MS });
    sizes.add((await stat(target)).size);
    await rm(target);
    report(`${name}: ${cost.wallSeconds.toFixed(1)} s`);
    return cost;
  };
  const tls = ['--cacert', ca, '--cert', cert, '--key', key];
  const pairs = await interleaved(
    REPETITIONS,
    () => measured('ours', process.execPath, [take, member.clientUrl, ca, cert, key, target]),
    () =>
      measured('etcdctl', etcdctl, [
        ...['--endpoints', member.clientUrl, ...tls],
        ...['snapshot', 'save', target],
      ]),
  );
  if (sizes.size !== 1) throw new Error(`snapshots of different sizes: ${[...sizes].join(', ')}`);
  return pairs;
}

function rowsOf(pairs: readonly Pair<ProcessCost>[]): Row[] {
  const row = (what: string, unit: string, pick: (cost: ProcessCost) => number) =>
    compare(
      { what, unit, note },
      pairs.map(({ ours }) => pick(ours)),
      pairs.map(({ theirs }) => pick(theirs)),
    );
  return [
    row('wall time', 's', ({ wallSeconds }) => wallSeconds),
    row('processor time', 's', ({ cpuSeconds }) => cpuSeconds),
    row('peak memory', 'MiB', ({ peakMiB }) => peakMiB),
  ];
}
