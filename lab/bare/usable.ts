import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { Failure } from '../../lib/base/errors/failure.ts';
import { urlHost } from '../../lib/base/network/address.ts';
import type { Limits } from '../../lib/base/wait/limits.ts';
import { KubeClient } from '../../lib/clients/kube/client.ts';
import { isKubeError } from '../../lib/clients/kube/kube-error.ts';
import { readKubeconfig } from '../../lib/clients/kube/kubeconfig.ts';
import { resourcePath, resources } from '../../lib/clients/kube/resources.ts';
import type { RunningCluster } from '../checks/check.ts';
import { PAUSE_VERSION } from '../components/pause.ts';
import { onHost } from '../host/on-host.ts';
import { DOMAIN } from '../site.ts';

const EVERY_MS = 100;
const REQUEST_MS = 5_000;
const USABLE_MS = 3 * 60_000;

/** Seconds from the start of the first unit. */
export interface Usable {
  /** The API server is ready. */
  readonly api: number;
  /** The node is Ready and has no taint. */
  readonly node: number;
  /** A pod that was created as soon as the API accepted it runs. */
  readonly pod: number;
}

type Step = keyof Usable;

const probe = { namespace: 'default', name: 'probe' } as const;

/** Of the image that every host has. */
const probePod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: probe.name },
  spec: {
    terminationGracePeriodSeconds: 0,
    containers: [
      {
        name: probe.name,
        image: `registry.k8s.io/pause:${PAUSE_VERSION}`,
        imagePullPolicy: 'Never',
      },
    ],
  },
};

const nodeSchema = z.looseObject({
  spec: z.looseObject({ taints: z.array(z.unknown()).default([]) }),
  status: z.looseObject({
    conditions: z.array(z.looseObject({ type: z.string(), status: z.string() })).default([]),
  }),
});

/**
 * Waits from outside until a host that is booting runs a pod, and says when it had come how far: counted
 * from the moment at which systemd started the first of these units.
 */
export async function untilUsable(
  cluster: Pick<RunningCluster, 'host' | 'kubeconfig'>,
  units: readonly string[],
  signal: AbortSignal,
): Promise<Usable> {
  const { host, kubeconfig } = cluster;
  const server = new URL(`https://${urlHost(host.identity.addresses[0])}:6443`);
  using client = new KubeClient({ ...(await readKubeconfig(kubeconfig)), server });
  const deadline = AbortSignal.timeout(USABLE_MS);
  const limits = { signal: AbortSignal.any([signal, deadline]), deadlineMs: REQUEST_MS };
  const api = await once('api', limits.signal, async () => {
    return (await client.raw('/readyz', limits)).code === 200;
  });
  const node = resourcePath(resources.nodes, { name: `${host.identity.name}.${DOMAIN}` });
  const [nodeAt, podAt] = await Promise.all([
    once('node', limits.signal, async () =>
      isUsable(await client.json({ method: 'GET', path: node }, limits)),
    ),
    createProbe(client, limits).then(() =>
      once('pod', limits.signal, async () => {
        const { status } = await client.get(resources.pods, probe, limits);
        return status?.phase === 'Running';
      }),
    ),
  ]);
  const began = await startOf(host, units, signal);
  const since = (ms: number) => (ms - began) / 1000;
  return { api: since(api), node: since(nodeAt), pod: since(podAt) };
}

/** Refused until the controller-manager has created the namespace's service account. */
async function createProbe(client: KubeClient, limits: Limits): Promise<void> {
  const { namespace } = probe;
  await once('pod', limits.signal, () =>
    client.create(resources.pods, { namespace }, probePod, limits).then(
      () => true,
      (error: unknown) => {
        if (isKubeError(error, 'conflict')) return true;
        throw error;
      },
    ),
  );
}

/** When it held, in milliseconds of the monotonic clock. @throws Failure (deadline) */
async function once(
  what: Step,
  signal: AbortSignal,
  holds: () => Promise<boolean>,
): Promise<number> {
  for (;;) {
    const isSo = await holds().catch((error: unknown) => {
      if (isKubeError(error) || signal.aborted) return false;
      throw error;
    });
    if (isSo) return monotonicMs();
    if (signal.aborted) throw new Failure('deadline', `the host has not come to: ${what}`);
    await sleep(EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}

function isUsable(node: unknown): boolean {
  const { spec, status } = nodeSchema.parse(node);
  const ready = status.conditions.find(({ type }) => type === 'Ready');
  return ready?.status === 'True' && spec.taints.length === 0;
}

/** The host has the clock of this machine. */
const monotonicMs = () => Number(process.hrtime.bigint() / 1_000n) / 1000;

async function startOf(
  host: RunningCluster['host'],
  units: readonly string[],
  signal: AbortSignal,
): Promise<number> {
  const show = ['systemctl', 'show', '--property=InactiveExitTimestampMonotonic', '--value'];
  const starts = (await onHost(host, [...show, ...units], signal)).split('\n').filter(Boolean);
  return Math.min(...starts.map(Number)) / 1000;
}
