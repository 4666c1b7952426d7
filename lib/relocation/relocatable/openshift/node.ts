import { judgeRelease, productOf } from '../../../config/openshift/judge-release.ts';
import { BRIDGE } from '../../../host/internal-bridge.ts';
import { RELOCATABLE_MACHINE_CONFIG } from '../machine-config.ts';
import type { HostCheck, HostFault } from './host-checks.ts';

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

const fault = (check: HostCheck, text: string): HostFault => ({ check, text });

/** What keeps OpenShift and its host from being relocated, each with what to do; empty: nothing. */
export function openShiftFaults(facts: OpenShiftFacts, isUnknownAccepted: boolean): HostFault[] {
  const { version, differing, hasNameServer } = facts;
  return [
    ...releaseFaults(version, isUnknownAccepted),
    ...poolFaults(facts, [RELOCATABLE_MACHINE_CONFIG]),
    ...differing.map((each) =>
      fault('machine-config-files', `${each}: let the machine-config operator restore it`),
    ),
    ...(hasNameServer
      ? []
      : [fault('name-server', 'dnsmasq.service is not active: see "systemctl status dnsmasq"')]),
  ];
}

export function releaseFaults(
  version: string | undefined,
  isUnknownAccepted: boolean,
): HostFault[] {
  const judged = judgeRelease('relocate', version, isUnknownAccepted);
  if (judged.ok) return [];
  const { expected, found, fix } = judged;
  return [
    fault(
      'release',
      `${productOf(version)} ${found}: expected ${expected}, found ${found}. ${fix}`,
    ),
  ];
}

/** @param expected MachineConfigs that it must be made of */
export function poolFaults(
  { pool }: Pick<OpenShiftFacts, 'pool'>,
  expected: readonly string[],
): HostFault[] {
  const check = 'machine-config-pool';
  if (pool === undefined) return [fault(check, 'the API has no MachineConfigPool master')];
  const { conditions, sources } = pool;
  const status = (type: string) => conditions.get(type) ?? 'unknown';
  const isSteady = status('Updated') === 'True' && status('Degraded') === 'False';
  return [
    ...expected
      .filter((name) => !sources.includes(name))
      .map((name) =>
        fault(
          check,
          `MachineConfigPool master is made without ${name}: files that were copied do not outlast an update`,
        ),
      ),
    ...(isSteady
      ? []
      : [
          fault(
            check,
            `MachineConfigPool master has Updated=${status('Updated')}, Degraded=${status('Degraded')}: wait for it, or see "oc describe mcp master"`,
          ),
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
export function nodeFaults(facts: NodeAddresses): HostFault[] {
  const { address, nodeName, nodes, nodeAddresses, isOnBridge } = facts;
  const found = nodeAddresses?.join(', ') || 'none';
  return [
    ...otherNodeFaults(nodes, nodeName),
    ...(nodeAddresses === undefined
      ? [
          fault(
            'node-address',
            `the API has no Node ${nodeName}, the name in the MachineConfig: install the node again`,
          ),
        ]
      : []),
    ...(nodeAddresses === undefined || found === address
      ? []
      : [
          fault(
            'node-address',
            `InternalIP of the Node ${nodeName}: expected ${address}, the address in the MachineConfig, found ${found}: install the node again`,
          ),
        ]),
    ...(isOnBridge
      ? []
      : [
          fault(
            'internal-bridge',
            `${BRIDGE} does not have the address ${address}: see "nmcli device show ${BRIDGE}"`,
          ),
        ]),
  ];
}

function otherNodeFaults(nodes: readonly string[], nodeName: string): HostFault[] {
  const others = nodes.filter((name) => name !== nodeName);
  return others.length === 0
    ? []
    : [
        fault(
          'other-nodes',
          `there are other Nodes: ${others.join(', ')}; a relocatable node is alone: remove them`,
        ),
      ];
}
