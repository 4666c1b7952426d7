import { copyFile, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { hostArchitecture, layBaseNode } from '../../build/base-node.ts';
import { writeGoYaml } from '../../lib/base/go-yaml/write.ts';
import { readJournal } from '../../lib/engine/steps/journal.ts';
import { writeFileAtomic } from '../../lib/host/files.ts';
import { removeContainers } from '../bare/host.ts';
import { applyObject } from '../checks/apply-object.ts';
import { kubectl } from '../checks/kubectl.ts';
import { eventually } from '../eventually.ts';
import { bootAgain } from '../faults/cells/faults.ts';
import { SITE } from '../host/network.ts';
import { onHost } from '../host/on-host.ts';
import { stepJournal } from '../host/wait-for-step.ts';
import { scenarioOf } from '../installation.ts';
import { distFolder } from '../paths.ts';
import { siteHost } from '../relocation.ts';
import type { Scenario } from '../scenario.ts';
import { HELLO_IMAGE } from '../test-workload.ts';
import { expectSite, siteConfig } from './media.ts';
import { staticNetwork } from './networks.ts';
import { ShippedNode } from './shipped-node.ts';

const ROUNDS = 3;
const RUNS_MS = 4 * 60_000;
const NETWORK_FILE = '/var/tmp/network.yml';
const NETWORK = staticNetwork(siteHost.addresses[0], SITE.segments.IPv4.bridge);

/** `lab/out/relocate-beside-bare/measured.json`; times in seconds. */
const measuredSchema = z.object({
  /** From the insertion of the volume to PASS; `settling`: of it, until nothing had changed for the whole window. */
  ours: z.array(z.object({ passed: z.number(), settling: z.number(), peakMiB: z.number() })),
  /** `nmstatectl apply` and `systemctl start kubelet`, until a pod that is created then runs. */
  bare: z.array(z.number()),
  /** Peak memory of the Node in the executable with a script of one line, on the same disk; MiB. */
  nodeMiB: z.array(z.number()),
});
export type RelocateBesideBare = z.infer<typeof measuredSchema>;

const measuredFile = (out: string) => join(out, 'measured.json');

export const readRelocateBesideBare = async (out: string): Promise<RelocateBesideBare> =>
  measuredSchema.parse(JSON.parse(await readFile(measuredFile(out), 'utf8')));

const STATUS = `require('node:fs').readFileSync('/proc/self/status', 'utf8')`;

/** Of the peaks of resident memory in texts of `/proc/<pid>/status` the highest. */
function peakMiB(texts: string): number {
  const kib = [...texts.matchAll(/VmHWM:\s+(\d+) kB/g)].map(([, digits]) => Number(digits));
  return Math.max(0, ...kib) / 1024;
}

/** As a node is that has left its factory: the first thing that it runs is at the site. */
async function stopPods(run: ShippedNode): Promise<void> {
  const { signal } = run.context;
  await onHost(run.booted, ['systemctl', 'stop', 'kubelet.service'], signal);
  await removeContainers(run.booted, signal);
}

/** From the disk of the executable: how much of a file is resident depends on where it lies. */
async function nodeRound(run: ShippedNode): Promise<number> {
  const { signal } = run.context;
  const node = '/var/tmp/node';
  const laid = await layBaseNode(hostArchitecture(), join(distFolder, 'build'), signal);
  await copyFile(laid, join(run.booted.rootDir, node));
  return peakMiB(await onHost(run.booted, [node, '--print', STATUS], signal));
}

/** The peak of the agent's resident memory, as long as its unit has a process. */
const PEAK = `while pid=$(systemctl show -P MainPID reconfigure.service); [ "$pid" != 0 ]; do
  grep VmHWM /proc/$pid/status; sleep 0.3; done`;

/** What an administrator types on a host whose control plane is stopped, without any agent. */
async function bareRound(run: ShippedNode, round: number): Promise<number> {
  const { signal } = run.context;
  const host = run.booted;
  await stopPods(run);
  await writeFile(join(host.rootDir, NETWORK_FILE), writeGoYaml(NETWORK));
  const began = performance.now();
  await onHost(host, ['nmstatectl', 'apply', NETWORK_FILE], signal);
  await onHost(host, ['systemctl', 'start', 'kubelet.service'], signal);
  const name = `probe-${round}`;
  const container = { name, image: HELLO_IMAGE, imagePullPolicy: 'Never' };
  const spec = { containers: [{ ...container, command: ['busybox', 'sleep', '3600'] }] };
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec };
  const runs = async () => {
    await applyObject(run.cluster, pod, signal);
    const phase = ['get', 'pod', name, '-o', 'jsonpath={.status.phase}'];
    if ((await kubectl(run.cluster, phase, signal)) !== 'Running') throw new Error('not yet');
  };
  await eventually(runs, RUNS_MS, signal);
  return (performance.now() - began) / 1000;
}

async function ownRound(run: ShippedNode, round: number) {
  const { signal } = run.context;
  const name = `round-${round}`;
  const config = siteConfig(name, { raw_nm_state_config: NETWORK });
  const { image } = await run.createVolume('ISO', { config });
  await stopPods(run);
  const since = new Date().toISOString();
  const began = performance.now();
  let passed = 0;
  let peaks = '';
  const ended = await run.meet(
    (drive) => drive.insert(run.booted, image, signal),
    async () => {
      const { stdout } = await run.booted.exec(['sh', '-c', PEAK], { timeoutMs: RUNS_MS }, signal);
      passed = (performance.now() - began) / 1000;
      peaks = stdout;
    },
  );
  await expectSite(run, name, ended);
  await run.drive.eject(run.booted, signal);
  const journal = await readJournal(stepJournal(run.booted.rootDir, 'reconfigure'));
  const settled = journal.findLast(
    ({ step, event, at }) => step === 'settle' && event === 'done' && at >= since,
  );
  return { passed, settling: settled?.seconds ?? 0, peakMiB: peakMiB(peaks) };
}

/** For `npm run bench -- relocate`: the same network and control plane, with and without the agent. */
export const relocateBesideBare: Scenario = (context) => {
  const run = new ShippedNode(context);
  const measured: RelocateBesideBare = { ours: [], bare: [], nodeMiB: [] };
  const rounds = Array.from({ length: ROUNDS }, (_, at) => at + 1);
  const write = () =>
    writeFileAtomic(measuredFile(context.out), `${JSON.stringify(measured, null, 2)}\n`, 0o644);
  return scenarioOf(run, [
    { title: 'Take a node from the factory', run: () => run.unpack() },
    {
      title: 'Start it at the site',
      run: async () => {
        await bootAgain(run);
        // As on a node that a person waits for.
        await rm(join(run.booted.rootDir, 'etc/sno-agents/settings.json'), { force: true });
        await run.unseal();
      },
    },
    // Before the others: the site takes the factory's administrator away.
    ...rounds.map((round) => ({
      title: `nmstatectl and kubelet, ${round}`,
      run: async () => {
        measured.bare.push(await bareRound(run, round));
        measured.nodeMiB.push(await nodeRound(run));
        await write();
      },
    })),
    ...rounds.map((round) => ({
      title: `Site volume, ${round}`,
      run: async () => {
        measured.ours.push(await ownRound(run, round));
        await write();
      },
    })),
  ]);
};
