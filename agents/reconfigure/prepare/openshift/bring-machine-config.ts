import { Failure } from '../../../../lib/base/errors/failure.ts';
import { familyOf } from '../../../../lib/base/network/address.ts';
import type { Limits } from '../../../../lib/base/wait/limits.ts';
import { beginChange, requireIdle } from '../../../../lib/change/exclusion.ts';
import type { KubeClient } from '../../../../lib/clients/kube/client.ts';
import {
  internalIps,
  type Node,
  type Resource,
  resources,
} from '../../../../lib/clients/kube/resources.ts';
import { exists } from '../../../../lib/host/files.ts';
import {
  kubeletDropinPath,
  RELOCATABLE_MACHINE_CONFIG,
  relocatableManifest,
} from '../../../../lib/relocation/relocatable/machine-config.ts';
import { ASSISTED_DNS } from '../../../../lib/relocation/relocatable/openshift/assisted-dns.ts';
import {
  type HostFault,
  hostFaultText,
} from '../../../../lib/relocation/relocatable/openshift/host-checks.ts';
import {
  poolFaults,
  releaseFaults,
} from '../../../../lib/relocation/relocatable/openshift/node.ts';
import {
  type JudgedMachineConfig,
  machineConfigSchema,
  otherMachineConfigFaults,
} from '../../../../lib/relocation/relocatable/openshift/other-machine-configs.ts';
import type { HostContext } from '../../../steps/host-context.ts';
import { REQUEST_DEADLINE_MS } from '../../../steps/request-deadline.ts';
import { coreOsFaults } from '../../openshift/host-checks.ts';
import { type PoolFacts, poolFacts } from '../../openshift/node.ts';
import { servedKindsFaults } from '../../openshift/served-kinds.ts';
import type { FixedNode } from './accept.ts';
import { describedCluster } from './described-cluster.ts';

const machineConfigs: Resource<JudgedMachineConfig> = {
  apiVersion: 'machineconfiguration.openshift.io/v1',
  plural: 'machineconfigs',
  schema: machineConfigSchema,
};

export interface Permissions {
  readonly mayRestart: boolean;
  readonly isUnknownReleaseAccepted: boolean;
}

/**
 * Gives a running node the MachineConfig of a relocatable one, with the address and the name that its Node has. The machine-config
 * operator applies it with one restart of the host; then the factory goes on with the same command.
 * @throws Failure (usage) with everything that speaks against it, nothing changed; (retry) once it is under way
 */
export async function bringMachineConfig(
  host: HostContext,
  permissions: Permissions,
  { signal, deadlineMs }: Limits,
): Promise<never> {
  const { paths } = host;
  await requireIdle(paths);
  if (await exists(paths.at(kubeletDropinPath))) {
    const found = `another ${kubeletDropinPath}`;
    throw refused('this node was not installed as a relocatable one', { found, fix: INSTALL });
  }
  const limits = { signal, deadlineMs: REQUEST_DEADLINE_MS };
  return host.withAdministrator({ remainingMs: () => deadlineMs }, async (client) => {
    const pool = await poolFacts(client, limits);
    const configs = await client.list(machineConfigs, {}, limits);
    if (configs.items.some(({ metadata }) => metadata.name === RELOCATABLE_MACHINE_CONFIG)) {
      throw underWay('exists, and is not on the host yet');
    }
    const { items: nodes } = await client.list(resources.nodes, {}, limits);
    const node = onlyNode(nodes);
    const faults: HostFault[] = [
      ...('fault' in node ? [node.fault] : []),
      ...(await clusterFaults(host, client, limits)),
      ...releaseFaults(pool.version, permissions.isUnknownReleaseAccepted),
      ...poolFaults(pool, []),
      ...otherMachineConfigFaults(inPool(configs.items, pool)),
      ...(await servedKindsFaults(client, limits)),
      ...(await coreOsFaults(paths, signal)),
    ];
    if ('fault' in node || faults.length > 0) {
      throw refused('this node cannot be relocated', {
        found: faults.map(hostFaultText).join('; '),
      });
    }
    if (!permissions.mayRestart) {
      throw refused('this node was not installed as a relocatable one', {
        expected: `${kubeletDropinPath}, with the address and the name of the Node`,
        found: `no such drop-in; Node ${node.nodeName}, ${node.address}`,
        fix: `Run it with --allow-restart: the machine-config operator then gives it the MachineConfig, and restarts it once. Before an installation, use "sno create relocatable-manifests".`,
      });
    }
    const replacesAssistedDns = pool.pool?.sources.includes(ASSISTED_DNS) ?? false;
    const { clusterDomain } = pool;
    const manifest = relocatableManifest({ ...node, clusterDomain, replacesAssistedDns });
    // With it, the operator changes the host.
    await beginChange(paths, () => client.create(machineConfigs, {}, manifest, limits));
    throw underWay(
      `was created, with ${node.nodeName} and ${node.address}${replacesAssistedDns ? `; it replaces what ${ASSISTED_DNS} does` : ''}`,
    );
  });
}

const INSTALL =
  'Install it again, with the manifest of "sno create relocatable-manifests": nobody else may write that file.';

const namesOf = (nodes: readonly Node[]) => nodes.map(({ metadata }) => metadata.name);

/** Its only address is that of the installation, in etcd and in certificates: it becomes the internal one. */
function onlyNode(nodes: readonly Node[]): FixedNode | { readonly fault: HostFault } {
  const [node, ...others] = nodes;
  const [first, ...further] = node === undefined ? [] : internalIps(node);
  if (node === undefined || others.length > 0) {
    const text = `expected one Node, found ${namesOf(nodes).join(', ') || 'none'}`;
    return { fault: { check: 'other-nodes', text } };
  }
  if (first === undefined || further.length > 0 || familyOf(first) !== 'IPv4') {
    const found = [first, ...further].join(', ') || 'none';
    const text = `InternalIP of the Node: expected one address, of IPv4, found ${found}`;
    return { fault: { check: 'node-address', text } };
  }
  return { nodeName: node.metadata.name, address: first };
}

async function clusterFaults(
  { paths }: HostContext,
  client: KubeClient,
  limits: Limits,
): Promise<HostFault[]> {
  const { faults } = await describedCluster(paths, client, limits);
  return faults.map((text) => ({ check: 'cluster', text }));
}

const inPool = (configs: readonly JudgedMachineConfig[], { pool }: PoolFacts) =>
  configs.filter(({ metadata }) => pool?.sources.includes(metadata.name));

const underWay = (what: string): Failure =>
  new Failure('retry', `MachineConfig ${RELOCATABLE_MACHINE_CONFIG} ${what}`, {
    fix: 'The machine-config operator restarts this host once. When "oc get mcp master" says UPDATED, run this command again.',
  });

const refused = (what: string, details: { expected?: string; found?: string; fix?: string }) =>
  new Failure('usage', `${what}; nothing was changed`, details);
