import { appliesIn, minorOf, type Validity } from '../../../base/minor.ts';
import { BRIDGE } from '../../../host/internal-bridge.ts';
import { RELOCATABLE_MACHINE_CONFIG } from '../machine-config.ts';

/**
 * The releases of which the host's side was read, or run in parts: what the machine-config operator, the network's scripts and
 * the operators do at a start without their network.
 */
export const RELOCATABLE_RELEASES = { since: '4.19', until: '4.21' } as const satisfies Validity;

/** What decides whether a node of OpenShift can be relocated. */
export interface OpenShiftFacts {
  /** Of the installation, which no site changes: the Ingress `cluster` keeps it. */
  readonly clusterDomain: string;
  /** `status.desired.version` of the ClusterVersion. */
  readonly version: string | undefined;
  /** The MachineConfigPool `master`; undefined: the API has none. */
  readonly pool:
    | {
        /** Status by type, such as Updated. */
        readonly conditions: ReadonlyMap<string, string>;
        /** Names of the MachineConfigs of which its configuration is made. */
        readonly sources: readonly string[];
      }
    | undefined;
  /** What is wrong with which file of the MachineConfig on the host. */
  readonly differing: readonly string[];
  /** Whether the node's own name server runs. */
  readonly hasNameServer: boolean;
}

/** What keeps OpenShift and its host from being relocated, each with what to do; empty: nothing. */
export function openShiftFaults(facts: OpenShiftFacts): string[] {
  const { version, differing, hasNameServer } = facts;
  const { since, until } = RELOCATABLE_RELEASES;
  const minor = version === undefined ? undefined : minorOf(version);
  return [
    ...(minor !== undefined && appliesIn(minor, RELOCATABLE_RELEASES)
      ? []
      : [
          `OpenShift ${version ?? 'of no version'}: only ${since} to ${until} can be relocated; install one of these`,
        ]),
    ...poolFaults(facts),
    ...differing.map((each) => `${each}: let the machine-config operator restore it`),
    ...(hasNameServer ? [] : ['dnsmasq.service is not active: see "systemctl status dnsmasq"']),
  ];
}

function poolFaults({ pool }: OpenShiftFacts): string[] {
  if (pool === undefined) return ['the API has no MachineConfigPool master'];
  const { conditions, sources } = pool;
  const has = (type: string, expected: string) => (conditions.get(type) ?? 'unknown') === expected;
  return [
    ...(sources.includes(RELOCATABLE_MACHINE_CONFIG)
      ? []
      : [
          `MachineConfigPool master is made without ${RELOCATABLE_MACHINE_CONFIG}: files that were copied do not outlast an update`,
        ]),
    ...(has('Updated', 'True') && has('Degraded', 'False')
      ? []
      : [
          `MachineConfigPool master has Updated=${conditions.get('Updated') ?? 'unknown'}, Degraded=${conditions.get('Degraded') ?? 'unknown'}: wait for it, or see "oc describe mcp master"`,
        ]),
  ];
}

/** What is known of the only Node, and of its address on the host. */
export interface NodeAddresses {
  readonly address: string;
  readonly nodeName: string;
  /** Names of all Nodes. */
  readonly nodes: readonly string[];
  /** Its InternalIPs; undefined: the API has no such Node. */
  readonly nodeAddresses: readonly string[] | undefined;
  readonly isOnBridge: boolean;
}

/** Why the node is not the one of its MachineConfig; empty: it is. */
export function nodeFaults(facts: NodeAddresses): string[] {
  const { address, nodeName, nodes, nodeAddresses, isOnBridge } = facts;
  const others = nodes.filter((name) => name !== nodeName);
  const found = nodeAddresses?.join(', ') || 'none';
  return [
    ...(others.length === 0
      ? []
      : [`there are other Nodes: ${others.join(', ')}; a relocatable node is alone: remove them`]),
    ...(nodeAddresses === undefined
      ? [`the API has no Node ${nodeName}, the name in the MachineConfig: install the node again`]
      : []),
    ...(nodeAddresses === undefined || found === address
      ? []
      : [
          `InternalIP of the Node ${nodeName}: expected ${address}, the address in the MachineConfig, found ${found}: install the node again`,
        ]),
    ...(isOnBridge
      ? []
      : [`${BRIDGE} has not the address ${address}: see "nmcli device show ${BRIDGE}"`]),
  ];
}
