import { readFile } from 'node:fs/promises';
import { describeError, Failure } from '../../../lib/base/errors/failure.ts';
import type { What } from '../../../lib/change/rotation/request.ts';
import { type Node, resources } from '../../../lib/clients/kube/resources.ts';
import { trustDigest, trusts, WORKER_SELECTOR } from '../../../lib/cluster/workers/api-trust.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { controllerManagerTrust } from '../../../lib/render/kubernetes/kube-controller-manager.ts';
import { plainHost, signedRights } from '../../steps/host-context.ts';
import { REQUEST_DEADLINE_MS } from '../../steps/request-deadline.ts';

/** These identify the clients of a worker's kubelet, or sign the worker's certificates. It never learns of others. */
const FIXED: readonly string[] = ['kubelet-client', 'kubelet-serving', 'admin'];

/**
 * Why a rotation would cut workers off. They follow the CA of the API server (sno-worker-trust), if they have confirmed the
 * present one: those that an earlier release installed do not.
 */
export async function cutOffWorkers(
  paths: HostPaths,
  what: What,
  signal: AbortSignal,
): Promise<Failure[]> {
  if (what.kind !== 'authorities') return [];
  const fixed = what.names.filter((name) => FIXED.includes(name));
  if (fixed.length === 0 && !what.names.includes('serving')) return [];
  try {
    const workers = await workersOf(paths, signal);
    if (workers.length === 0) return [];
    return fixed.length > 0 ? [learnNothing(fixed, workers)] : await unconfirmed(paths, workers);
  } catch (error) {
    signal.throwIfAborted();
    return [
      new Failure('usage', 'it cannot be determined whether workers would be cut off', {
        found: describeError(error),
        fix: 'Rotate it when the API server answers: see "kubectl get nodes".',
      }),
    ];
  }
}

async function workersOf(paths: HostPaths, signal: AbortSignal): Promise<Node[]> {
  const host = await plainHost(paths);
  const limits = { signal, deadlineMs: REQUEST_DEADLINE_MS };
  const remaining = { remainingMs: () => REQUEST_DEADLINE_MS };
  const { items } = await signedRights(host).withAdministrator(remaining, (client) =>
    client.list(resources.nodes, { labelSelector: WORKER_SELECTOR }, limits),
  );
  // Hosts of earlier releases have no label.
  return items.filter(({ metadata }) => metadata.name !== host.hostname());
}

const learnNothing = (fixed: readonly string[], workers: readonly Node[]): Failure =>
  new Failure(
    'usage',
    `the cluster has workers, which do not learn of a new CA ${fixed.join(', ')}: ${namesOf(workers)}`,
    { fix: 'Remove them first, and let them join again afterwards.' },
  );

async function unconfirmed(paths: HostPaths, workers: readonly Node[]): Promise<Failure[]> {
  const digest = trustDigest(await readFile(paths.at(controllerManagerTrust.api), 'utf8'));
  const others = workers.filter((node) => !trusts(node, digest));
  if (others.length === 0) return [];
  return [
    new Failure(
      'usage',
      `these workers have not confirmed that they follow the CA of the API server: ${namesOf(others)}`,
      {
        fix: 'Start those that are off; they confirm it within 20 minutes, or at once by "systemctl start sno-worker-trust". Without that unit, an earlier release installed the worker: install it again. Delete the Node of one that is gone ("kubectl delete node NAME").',
      },
    ),
  ];
}

const namesOf = (nodes: readonly Node[]): string =>
  nodes.map(({ metadata }) => metadata.name).join(', ');
