import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hostArchitecture, layBaseNode } from '../../build/base-node.ts';
import { AGENT_V8_FLAGS } from '../../build/build.ts';
import { bundle } from '../../build/bundle.ts';
import { makeExecutable } from '../../build/executable.ts';
import { ETCD_VERSION, KUBERNETES_VERSION } from '../../lab/components/versions.ts';
import { distFolder } from '../../lab/paths.ts';
import type { BenchContext, Benchmark, Row } from '../benchmark.ts';
import { copied } from '../executables.ts';
import { expectGo } from '../go.ts';
import { expectLab, LAB_MS } from '../lab-run.ts';
import { expectGnuTime, measureProcess, type ProcessCost } from '../measured-process.ts';
import { compare, interleaved, type Pair } from '../statistics.ts';
import { measureBesideBare } from './beside-bare.ts';
import { type RenewalHost, startRenewalHost } from './renewal-host.ts';

const DAILY_RUNS = 25;
const RENEWALS = 3;
/** A server takes up a certificate within a minute. */
const RUN_MS = 5 * 60_000;

/** How much a run of sno-renew may need, relative to the start of Node, and in memory. */
const GOAL = { startRatio: 1.5, peakMiB: 80 };

/** What an all-in-one host costs: its first boot, restarts, and the daily renewal of certificates. */
export const aio: Benchmark = {
  name: 'aio',
  compares:
    'an all-in-one host compared with its components in bare units, and a daily run of sno-renew on a running control plane with plain Node, running an empty script',
  deadlineMs: 30 * 60_000 + LAB_MS,
  async run(signal, context) {
    await expectLab();
    await expectGo();
    await expectGnuTime();
    const besideBare = await measureBesideBare(signal, context);
    const programs = await buildPrograms(signal, context);
    const host = await startRenewalHost(join(context.folder, 'host'), signal);
    try {
      const renewal = await measure(host, programs, signal, context);
      const { node } = process.versions;
      const rows = [...besideBare, ...renewal];
      return { rows, versions: { node, etcd: ETCD_VERSION, kubernetes: KUBERNETES_VERSION } };
    } finally {
      await host.stop();
    }
  },
};

interface Programs {
  /** The agents in an executable, for any host. */
  readonly agents: string;
  /** The Node that is in it, and an empty script. */
  readonly node: string;
  readonly empty: string;
}

async function buildPrograms(
  signal: AbortSignal,
  { folder, report }: BenchContext,
): Promise<Programs> {
  report('building the executable');
  const workDir = join(distFolder, 'build');
  const arch = hostArchitecture();
  const output = join(folder, 'built-agents');
  const empty = join(folder, 'empty.js');
  const code = await bundle({
    entry: join(import.meta.dirname, 'agent-elsewhere.ts'),
    constants: { __SNO_AGENTS_VERSION__: 'bench' },
  });
  const warmUp = [['{}', 'bootkube', 'plan']];
  const executable = { code, licenses: '', arch, output, workDir, warmUp };
  await makeExecutable({ ...executable, v8Flags: AGENT_V8_FLAGS }, signal);
  await writeFile(empty, '');
  const node = await layBaseNode(arch, workDir, signal);
  return { ...(await copied({ agents: output, node }, folder)), empty };
}

async function measure(
  renewalHost: RenewalHost,
  { agents, node, empty }: Programs,
  signal: AbortSignal,
  { folder, report }: BenchContext,
): Promise<Row[]> {
  const limits = { signal, deadlineMs: RUN_MS };
  const args = [JSON.stringify(renewalHost.host), 'sno-renew', 'run'];
  const env = { PATH: `${renewalHost.programs}:${process.env.PATH}` };
  const renew = () => measureProcess(agents, args, folder, { ...limits, env });
  const start = () => measureProcess(node, [empty], folder, limits);
  const renewDue = async () => {
    const count = await renewalHost.ageLeaves();
    report(`renewing ${count} certificates`);
    const cost = await renew();
    const due = await renewalHost.countDue();
    if (due > 0) throw new Error(`${due} of ${count} certificates were not renewed`);
    return cost;
  };
  // After the first run, the journal is as on every later day.
  await renew();
  report('nothing due');
  const daily = await interleaved(DAILY_RUNS, renew, start);
  const renewals = await interleaved(RENEWALS, renewDue, start);
  const goal = `the goal is at most ${GOAL.startRatio} x`;
  return [
    ...costRows('nothing due', daily, goal),
    ...costRows('every certificate due', renewals, 'includes proofs by the servers'),
  ];
}

/** `note`: about both times. */
function costRows(when: string, pairs: readonly Pair<ProcessCost>[], note: string): Row[] {
  const row = (what: string, unit: string, about: string, pick: (cost: ProcessCost) => number) =>
    compare(
      { what: `${when}, ${what}`, unit, note: about },
      pairs.map(({ ours }) => pick(ours)),
      pairs.map(({ theirs }) => pick(theirs)),
    );
  const memory = `the goal is at most ${GOAL.peakMiB} MiB`;
  return [
    row('wall time', 'ms', note, ({ wallSeconds }) => wallSeconds * 1000),
    row('processor time', 'ms', note, ({ cpuSeconds }) => cpuSeconds * 1000),
    row('peak memory', 'MiB', memory, ({ peakMiB }) => peakMiB),
  ];
}
