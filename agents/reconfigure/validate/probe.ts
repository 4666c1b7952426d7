import { randomUUID } from 'node:crypto';
import { describeError, Failure } from '../../../lib/base/errors/failure.ts';
import type { Wait } from '../../../lib/base/wait/limits.ts';
import type { KubeClient } from '../../../lib/clients/kube/client.ts';
import { resources } from '../../../lib/clients/kube/resources.ts';
import type { Progress } from '../../../lib/engine/steps/progress.ts';
import { internalAddresses } from '../../../lib/relocation/relocatable/policy.ts';
import type {
  ProbeName,
  ProbeResult,
} from '../../../lib/relocation/relocatable/validation/probes.ts';
import { clusterDnsIp } from '../../../lib/render/kubernetes/addresses.ts';
import { askNameServer } from './cluster-dns.ts';
import type { ValidateContext } from './context.ts';
import { answersOf } from './probe-answers.ts';
import { PROBE_NAME, PROBE_NAMESPACE, PROBE_PORT } from './probe-objects.ts';
import {
  createProbe,
  deleteProbe,
  hasDefaultClass,
  type ProbePod,
  probeLog,
  probeService,
  readyPod,
  removeProbe,
} from './probe-workload.ts';

/** Of the one request of an agent that is told to stop. */
const LAST_REQUEST_MS = 5_000;

/**
 * Has the cluster do what it will have to do at its site, with an image that is on every host, and takes it back. What
 * fails is part of the result. What a run that was killed has left is deleted first.
 *
 * @throws the reason of the signal only
 */
export async function probeCluster(
  context: ValidateContext,
  client: KubeClient,
  progress: Progress,
): Promise<ProbeResult[]> {
  const { signal } = progress;
  const wait: Wait = {
    signal,
    deadlineMs: context.settings.validateProbeMs,
    report: (text) => progress.waitingFor(text),
  };
  const results: ProbeResult[] = [];
  const attempt = async <T>(name: ProbeName, body: () => Promise<T>): Promise<T | undefined> => {
    try {
      const value = await progress.wait(`the probe ${name}`, body);
      results.push({ name, outcome: 'passed' });
      return value;
    } catch (error) {
      signal.throwIfAborted();
      results.push({ name, outcome: 'failed', why: describeError(error) });
      return undefined;
    }
  };
  try {
    const probe = await attempt('workload', () => startProbe(context, client, wait));
    if (probe === undefined) return results;
    for (const { name, lacks, body } of partsOf(context, client, probe, wait)) {
      if (lacks === undefined) await attempt(name, body);
      else results.push({ name, outcome: 'not-tried', why: lacks });
    }
  } finally {
    // A person who stops this agent does not wait for the cluster.
    const soon = { signal: AbortSignal.timeout(LAST_REQUEST_MS), deadlineMs: LAST_REQUEST_MS };
    if (signal.aborted) await deleteProbe(client, soon).catch(() => false);
    else await attempt('namespace', () => removeProbe(client, wait));
  }
  return results;
}

interface Probe {
  /** In its ConfigMap. */
  readonly token: string;
  readonly pod: ProbePod;
  readonly hasVolumes: boolean;
  readonly withoutServices: string | undefined;
}

async function startProbe(
  { platform }: ValidateContext,
  client: KubeClient,
  wait: Wait,
): Promise<Probe> {
  await removeProbe(client, wait);
  const { image, securityContext, withoutServices } = await platform.probeMaterial(client, wait);
  const token = randomUUID();
  const hasVolumes = await hasDefaultClass(client, wait);
  const pod = await createProbe(client, { image, securityContext, token, hasVolumes }, wait);
  return { token, pod, hasVolumes, withoutServices };
}

interface Part {
  readonly name: ProbeName;
  /** What the probe needs and the payload lacks. */
  readonly lacks: string | undefined;
  body(): Promise<void>;
}

/** What is asked of the probe once it runs, in this order: the last one replaces its pod. */
function partsOf(
  { cluster, policy }: ValidateContext,
  client: KubeClient,
  { token, pod, hasVolumes, withoutServices }: Probe,
  wait: Wait,
): Part[] {
  const at = (address: string, port: number = PROBE_PORT) => answersOf(address, port, wait);
  return [
    {
      name: 'config-map',
      lacks: undefined,
      body: async () => expectSame('its configuration', token, await at(pod.ip).name()),
    },
    {
      name: 'logs',
      lacks: undefined,
      body: async () => {
        const log = await probeLog(client, pod, wait);
        if (!log.includes(token)) throw new Failure('fatal', 'the log of the pod is not its own');
      },
    },
    {
      name: 'service',
      lacks: withoutServices,
      body: async () => {
        for (const ip of (await probeService(client, wait)).ips) {
          expectSame(`the answer of the Service at ${ip}`, token, await at(ip).name());
        }
      },
    },
    {
      name: 'node-port',
      lacks: withoutServices,
      body: async () => {
        const { nodePort } = await probeService(client, wait);
        for (const address of internalAddresses(policy)) {
          const found = await at(address, nodePort).name();
          expectSame(`the answer of the node port at ${address}`, token, found);
        }
      },
    },
    {
      name: 'dns',
      lacks: undefined,
      body: async () => {
        const { ips } = await probeService(client, wait);
        const name = `${PROBE_NAME}.${PROBE_NAMESPACE}.svc.cluster.local`;
        const found = await askNameServer(clusterDnsIp(cluster), name);
        expectSame(`the address of ${name}`, ips[0] ?? 'none', found.join(', '));
      },
    },
    {
      name: 'volume',
      lacks: hasVolumes ? undefined : 'there is no default StorageClass',
      body: async () => {
        await at(pod.ip).write(token);
        await client.remove(resources.pods, { namespace: PROBE_NAMESPACE, name: pod.name }, wait);
        const next = await readyPod(client, pod, wait);
        expectSame('what the next pod finds in the volume', token, await at(next.ip).read());
      },
    },
  ];
}

function expectSame(what: string, expected: string, found: string | undefined): void {
  if (found === expected) return;
  throw new Failure('fatal', `${what} is another one`, { expected, found: found ?? 'nothing' });
}
