import { statfs } from 'node:fs/promises';
import { describeError } from '../../../lib/base/errors/failure.ts';
import { compareMinors, type Minor, minorOf } from '../../../lib/base/minor.ts';
import type { UpdateManifest } from '../../../lib/change/update/manifest.ts';
import { type Obstacle, skewFaults } from '../../../lib/change/update/successor.ts';
import { whyNotReady } from '../../../lib/clients/kube/api-ready.ts';
import type { KubeClient } from '../../../lib/clients/kube/client.ts';
import {
  type DeprecatedApi,
  requestedDeprecatedApis,
} from '../../../lib/clients/kube/deprecated-apis.ts';
import { isKubeError } from '../../../lib/clients/kube/kube-error.ts';
import { resources } from '../../../lib/clients/kube/resources.ts';
import type { HostContext } from '../../steps/host-context.ts';
import { type HostPlatform, judgePlatform } from '../../steps/preflight/platform.ts';
import { REQUEST_DEADLINE_MS } from '../../steps/request-deadline.ts';

/** What stays free for logs and the database while the update is beside what is in use. */
const MARGIN_BYTES = 512 * 2 ** 20;

/** Whether the disk of a folder has room for that much of an update. */
export async function roomObstacles(folder: string, needed: number): Promise<Obstacle[]> {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  if (free >= needed + MARGIN_BYTES) return [];
  return [
    {
      found: `the disk has no room for the update: it needs ${needed + MARGIN_BYTES} bytes, and ${free} are free`,
      fix: 'Delete what is not needed.',
    },
  ];
}

/** Whether the host's cgroup version and container runtime are those that the update's kubelet demands. */
export function platformObstacles(
  { kubernetes }: UpdateManifest['payload']['versions'],
  platform: HostPlatform,
): Obstacle[] {
  const { problem } = judgePlatform(kubernetes, platform);
  return problem === undefined ? [] : [{ found: problem.what, fix: problem.fix }];
}

/** A person knows that nothing uses the removed APIs any more, although the API server has seen it. */
export interface UpdateConsent {
  readonly removedApis: boolean;
}

/**
 * What in the cluster is in the way of another minor version of Kubernetes: workers, and clients of APIs that it no
 * longer serves. The manifests of the host that still wait are not among them: their kinds are not served yet.
 */
export async function clusterObstacles(
  { hostname, withAdministrator }: Pick<HostContext, 'hostname' | 'withAdministrator'>,
  { kubernetes }: UpdateManifest['payload']['versions'],
  accepted: UpdateConsent,
  signal: AbortSignal,
): Promise<Obstacle[]> {
  const limits = { signal, deadlineMs: REQUEST_DEADLINE_MS };
  const remaining = { remainingMs: () => REQUEST_DEADLINE_MS };
  const fix = 'Run it again once the API server is ready ("wait-steady").';
  try {
    return await withAdministrator(remaining, async (client) => {
      const unready = await whyNotReady(client, signal);
      if (unready !== undefined) return [{ found: `the API server is not ready: ${unready}`, fix }];
      const apis = accepted.removedApis ? [] : await requestedDeprecatedApis(client, limits);
      return [
        ...skewFaults(kubernetes, await workersOf(client, hostname(), limits)),
        ...removedApiFaults(kubernetes, apis),
      ];
    });
  } catch (error) {
    if (!isKubeError(error)) throw error;
    return [{ found: `the API server cannot be asked: ${describeError(error)}`, fix }];
  }
}

async function workersOf(
  client: KubeClient,
  own: string,
  limits: Parameters<KubeClient['list']>[2],
) {
  const { items } = await client.list(resources.nodes, {}, limits);
  return items
    .filter(({ metadata }) => metadata.name !== own)
    .map(({ metadata, status }) => ({
      name: metadata.name,
      kubelet: status?.nodeInfo?.kubeletVersion ?? 'of no known version',
    }));
}

/** Used APIs that the version of Kubernetes does not serve any more. */
export function removedApiFaults(kubernetes: string, apis: readonly DeprecatedApi[]): Obstacle[] {
  const next = minorOf(kubernetes);
  const gone = apis.filter(({ removedIn }) => {
    const removed = minorOf(`${removedIn}.0`);
    return next !== undefined && removed !== undefined && isServedNoMore(removed, next);
  });
  if (gone.length === 0) return [];
  const names = gone.map(({ resource, removedIn }) => `${resource} (until ${removedIn})`);
  return [
    {
      found: `Kubernetes ${kubernetes} does not serve what is in use: ${names.join(', ')}`,
      fix: 'Have their clients use a newer version of these APIs: "grep k8s.io/removed-release /var/log/kube-apiserver/audit.log" shows who they are. If nothing uses them any more, add --accept-removed-apis.',
    },
  ];
}

const isServedNoMore = (removed: Minor, next: Minor): boolean => compareMinors(removed, next) <= 0;
