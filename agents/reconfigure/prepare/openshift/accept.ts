import { Failure } from '../../../../lib/base/errors/failure.ts';
import type { Limits } from '../../../../lib/base/wait/limits.ts';
import { requireIdle } from '../../../../lib/change/exclusion.ts';
import { beforeFolder } from '../../../../lib/change/site/places.ts';
import type { KubeClient } from '../../../../lib/clients/kube/client.ts';
import { internalIps, resources } from '../../../../lib/clients/kube/resources.ts';
import { readKept } from '../../../../lib/engine/trial/kept.ts';
import { exists } from '../../../../lib/host/files.ts';
import { BRIDGE } from '../../../../lib/host/internal-bridge.ts';
import { hostAddresses } from '../../../../lib/host/network.ts';
import { sealedPath } from '../../../../lib/host/paths.ts';
import type { RelocatableNode } from '../../../../lib/relocation/relocatable/machine-config.ts';
import {
  type HostFault,
  hostFaultText,
} from '../../../../lib/relocation/relocatable/openshift/host-checks.ts';
import {
  nodeFaults,
  openShiftFaults,
} from '../../../../lib/relocation/relocatable/openshift/node.ts';
import type { HostContext } from '../../../steps/host-context.ts';
import { REQUEST_DEADLINE_MS } from '../../../steps/request-deadline.ts';
import { preparedHostFaults } from '../../openshift/host-checks.ts';
import { openShiftFacts } from '../../openshift/node.ts';
import { servedKindsFaults } from '../../openshift/served-kinds.ts';

/** What the MachineConfig has fixed: the same at every site. */
export type FixedNode = Pick<RelocatableNode, 'address' | 'nodeName'>;

/**
 * Whether this host of OpenShift can be made relocatable; nothing is changed.
 * @throws Failure (usage) with everything that keeps it from that
 */
export async function requirePreparableOpenShift(
  host: HostContext,
  node: FixedNode,
  isUnknownReleaseAccepted: boolean,
  limits: Limits,
): Promise<FixedNode> {
  const { paths, cluster } = host;
  const isOfOthers = cluster.openshift?.installedByOthers === true;
  if (!isOfOthers && !(await exists(paths.record))) {
    throw refused('the installation is not complete', { fix: 'Wait for its end.' });
  }
  await requireIdle(paths);
  if (await exists(sealedPath(paths))) {
    throw refused('this node is sealed', {
      fix: 'Run "reconfigure validate --unseal" first: its API has to be asked.',
    });
  }
  const faults = await host.withAdministrator({ remainingMs: () => limits.deadlineMs }, (client) =>
    faultsOf(host, client, { node, isUnknownReleaseAccepted }, limits.signal),
  );
  if (faults.length === 0) return node;
  const found = faults.map(hostFaultText).join('; ');
  throw refused('this node cannot be relocated', { found });
}

/**
 * Whether what `reconfigure prepare` has placed can be taken away; nothing is changed.
 * @throws Failure (usage) while one of the units keeps the way back from a change
 */
export async function requireUndoable({ paths }: Pick<HostContext, 'paths'>): Promise<void> {
  const kept = await readKept(beforeFolder(paths));
  if (kept === undefined) return;
  throw refused(`the way back from ${kept.what} is kept`, {
    fix: 'Run "reconfigure rollback" or "reconfigure commit" first.',
  });
}

async function faultsOf(
  { paths }: HostContext,
  client: KubeClient,
  {
    node,
    isUnknownReleaseAccepted,
  }: { readonly node: FixedNode; readonly isUnknownReleaseAccepted: boolean },
  signal: AbortSignal,
): Promise<HostFault[]> {
  const limits = { signal, deadlineMs: REQUEST_DEADLINE_MS };
  const { items: nodes } = await client.list(resources.nodes, {}, limits);
  const own = nodes.find(({ metadata }) => metadata.name === node.nodeName);
  const addresses = await hostAddresses(signal);
  return [
    ...openShiftFaults(await openShiftFacts(paths, client, node, limits), isUnknownReleaseAccepted),
    ...nodeFaults({
      ...node,
      nodes: nodes.map(({ metadata }) => metadata.name),
      nodeAddresses: own && internalIps(own),
      isOnBridge: addresses.some(
        ({ interfaceName, address }) => interfaceName === BRIDGE && address === node.address,
      ),
    }),
    ...(await servedKindsFaults(client, limits)),
    ...(await preparedHostFaults(paths, node, own, signal)),
  ];
}

const refused = (what: string, details: { expected?: string; found?: string; fix?: string }) =>
  new Failure('usage', `${what}; nothing was changed`, details);
