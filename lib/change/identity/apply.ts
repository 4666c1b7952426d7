import type { Limits } from '../../base/wait/limits.ts';
import type { KubeClient } from '../../clients/kube/client.ts';
import { isKubeError } from '../../clients/kube/kube-error.ts';
import { resourcePath } from '../../clients/kube/resources.ts';
import type { IdentityChange } from './changes.ts';
import { type ListedObjects, listed } from './objects.ts';

/** Everything that `changesOf` looks at. */
export async function listObjects(client: KubeClient, limits: Limits): Promise<ListedObjects> {
  const [nodes, pods, volumes, claims, attachments, csiNodes, leases, rootCas] = await Promise.all([
    client.list(listed.nodes, {}, limits),
    client.list(listed.pods, {}, limits),
    client.list(listed.volumes, {}, limits),
    client.list(listed.claims, {}, limits),
    client.list(listed.attachments, {}, limits),
    client.list(listed.csiNodes, {}, limits),
    client.list(listed.leases, { namespace: 'kube-node-lease' }, limits),
    client.list(listed.configMaps, { fieldSelector: 'metadata.name=kube-root-ca.crt' }, limits),
  ]);
  return {
    nodes: nodes.items,
    pods: pods.items,
    volumes: volumes.items,
    claims: claims.items,
    attachments: attachments.items,
    csiNodes: csiNodes.items,
    leases: leases.items,
    rootCas: rootCas.items,
  };
}

/**
 * Sends one change. What an earlier attempt has done is no error: an object that exists is not created
 * again, and one that is gone, or has another uid, is not deleted.
 */
export async function applyChange(
  client: KubeClient,
  change: IdentityChange,
  limits: Limits,
): Promise<void> {
  const { resource, namespace, name } = change;
  const path = resourcePath(resource, { namespace, name });
  if (change.do === 'create') {
    const folder = resourcePath(resource, { namespace });
    await client.json({ method: 'POST', path: folder, body: change.body }, limits).catch(exists);
    return;
  }
  if (change.do === 'replace') {
    await client.json({ method: 'PUT', path, body: change.body }, limits).catch(isGone);
    return;
  }
  const patch = (body: object) =>
    client
      .json({ method: 'PATCH', path, body, contentType: 'application/merge-patch+json' }, limits)
      .catch(isGone);
  if (change.do === 'patch') {
    await patch(change.body);
    return;
  }
  const { uid } = change;
  if (change.dropsFinalizers) await patch({ metadata: { uid, finalizers: null } });
  const body = {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    // A kubelet that is not connected cannot confirm the end of its pods.
    gracePeriodSeconds: 0,
    preconditions: { uid },
  };
  await client.json({ method: 'DELETE', path, body }, limits).catch(isGone);
}

function exists(error: unknown): void {
  if (!isKubeError(error, 'conflict')) throw error;
}

/** Deleted, or replaced by another one under its name. */
function isGone(error: unknown): void {
  if (!isKubeError(error, 'not-found') && !isKubeError(error, 'conflict')) throw error;
}
