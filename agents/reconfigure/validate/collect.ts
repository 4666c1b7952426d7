import { describeError } from '../../../lib/base/errors/failure.ts';
import { connectHostRuntime } from '../../../lib/clients/cri/runtime.ts';
import type { KubeClient } from '../../../lib/clients/kube/client.ts';
import { LEADER_LEASES } from '../../../lib/cluster/steady/leases.ts';
import { scheduledShutdown } from '../../../lib/cluster/steady/planned-restart.ts';
import { verdictText } from '../../../lib/cluster/steady/verdict.ts';
import { waitSteady } from '../../../lib/cluster/steady/wait.ts';
import type { Progress } from '../../../lib/engine/steps/progress.ts';
import { bootMoment } from '../../../lib/host/boot.ts';
import { run } from '../../../lib/host/command.ts';
import { readTextIfPresent } from '../../../lib/host/files.ts';
import { internalAddresses } from '../../../lib/relocation/relocatable/policy.ts';
import type { NodeFacts } from '../../../lib/relocation/relocatable/validation/facts.ts';
import { apiServiceIps, clusterDnsIp } from '../../../lib/render/kubernetes/addresses.ts';
import { missingOnBridge } from '../../steps/relocatable/internal-address.ts';
import { REQUEST_DEADLINE_MS } from '../../steps/request-deadline.ts';
import { arrivalFaults, arrivalNotes } from '../arrival-faults.ts';
import { askNameServer } from './cluster-dns.ts';
import type { ValidateContext } from './context.ts';
import { objectFacts } from './objects.ts';
import { probeCluster } from './probe.ts';

const CLOCK_MS = 10_000;

/** Waits until the node is steady, and reads everything that it is judged by. */
export async function collectFacts(
  context: ValidateContext,
  progress: Progress,
): Promise<NodeFacts> {
  const { paths, policy, node, cluster, platform } = context;
  const { signal } = progress;
  const limits = { signal, deadlineMs: REQUEST_DEADLINE_MS };
  const nodeName = context.hostname();
  using runtime = connectHostRuntime(paths);
  const seen = await context.withAdministrator(progress, async (client) => {
    // First: it moves something.
    const probes = await probeCluster(context, client, progress);
    const unsteady = await whyUnsteady(context, client, progress);
    const objects = await objectFacts(client, runtime, nodeName, limits);
    const { unitImages, ...facts } = await platform.facts(client, limits);
    const images = await Promise.all(
      unitImages.map(async (each) => ({
        ...each,
        isPinned: (await runtime.imageStatus(each.image, limits))?.pinned,
      })),
    );
    return { probes, unsteady, ...objects, ...facts, unitImages: images };
  });
  // Before the clock that they are compared with.
  const seconds = await readTextIfPresent(paths.at('/sys/class/rtc/rtc0/since_epoch'));
  return {
    ...seen,
    now: new Date(),
    internalAddresses: internalAddresses(policy),
    nodeName,
    shippingDays: policy.shippingDays,
    missingOnBridge: await missingOnBridge(internalAddresses(policy), signal),
    hardwareClock: seconds === undefined ? undefined : new Date(Number(seconds) * 1000),
    isTimeSynchronized: await isTimeSynchronized(signal),
    arrival: {
      faults: await arrivalFaults(paths, policy, node),
      notes: await arrivalNotes(),
    },
    clusterDns: await clusterDns(clusterDnsIp(cluster)),
    apiService: apiServiceIps(cluster)[0] ?? '',
  };
}

async function whyUnsteady(
  { paths, platform, cluster, hostname, bootTime }: ValidateContext,
  client: KubeClient,
  progress: Progress,
): Promise<string | undefined> {
  const { boot: bootId } = await bootMoment();
  const subject = {
    nodeName: hostname(),
    bootTime: await bootTime(progress.signal),
    leases: LEADER_LEASES[cluster.controlPlane],
  };
  const verdict = await waitSteady(client, subject, {
    windowMs: platform.windowMs,
    bootId,
    scheduled: () => scheduledShutdown(paths),
    report: (text) => progress.waitingFor(text),
    signal: progress.signal,
    // The rest is read and reported also on a node that does not settle.
    deadlineMs: Math.max(platform.windowMs, progress.remainingMs() - REQUEST_DEADLINE_MS * 2),
  });
  return verdict.state === 'steady' ? undefined : verdictText(verdict);
}

async function isTimeSynchronized(signal: AbortSignal): Promise<boolean> {
  const args = ['show', '--property=NTPSynchronized', '--value'];
  return (await run('timedatectl', args, { signal, deadlineMs: CLOCK_MS })).trim() === 'yes';
}

const clusterDns = (server: string): Promise<NodeFacts['clusterDns']> =>
  askNameServer(server, 'kubernetes.default.svc.cluster.local').catch(describeError);
