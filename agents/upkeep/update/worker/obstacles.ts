import { describeError } from '../../../../lib/base/errors/failure.ts';
import type { UpdateManifest } from '../../../../lib/change/update/manifest.ts';
import { newerThanApi, type Obstacle } from '../../../../lib/change/update/successor.ts';
import { isKubeError } from '../../../../lib/clients/kube/kube-error.ts';
import { resources } from '../../../../lib/clients/kube/resources.ts';
import { servedMinor, serverVersion } from '../../../../lib/clients/kube/server-version.ts';
import type { PlainHost } from '../../../steps/host-context.ts';
import { asNode } from '../../../steps/own-node.ts';
import { REQUEST_DEADLINE_MS } from '../../../steps/request-deadline.ts';

/** What in the cluster is in the way of an update of a worker: a control plane that is older than it. */
export async function apiObstacles(
  host: PlainHost,
  { kubernetes }: UpdateManifest['payload']['versions'],
  signal: AbortSignal,
): Promise<Obstacle[]> {
  try {
    using client = await asNode(host);
    const limits = { signal, deadlineMs: REQUEST_DEADLINE_MS };
    const api = servedMinor(await serverVersion(client, limits));
    return api === undefined ? [] : newerThanApi(kubernetes, api);
  } catch (error) {
    if (!isKubeError(error)) throw error;
    const found = `the API server cannot be asked: ${describeError(error)}`;
    return [{ found, fix: 'Run it again once the API server is ready.' }];
  }
}

/** Whether people have drained the node, or have at least kept new pods off it. */
export async function isCordoned(host: PlainHost, signal: AbortSignal): Promise<boolean> {
  using client = await asNode(host);
  const limits = { signal, deadlineMs: REQUEST_DEADLINE_MS };
  const node = await client.find(resources.nodes, { name: host.hostname() }, limits);
  return node?.spec?.unschedulable === true;
}
