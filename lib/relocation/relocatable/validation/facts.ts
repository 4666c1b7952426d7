import type { NodeIps } from '../../../base/network/node-ips.ts';
import type { InventoryItem } from '../../../pki/inventory.ts';
import type { ProbeResult } from './probes.ts';

/** A pod of this node, as far as it is judged. */
export interface PodFacts {
  /** `namespace/name`. */
  readonly name: string;
  readonly isOnHostNetwork: boolean;
  readonly podIp: string | undefined;
  readonly containers: readonly {
    readonly image: string;
    readonly isAlwaysPulled: boolean;
    /** Whether the runtime has the image. */
    readonly isLocal: boolean;
  }[];
}

/** A certificate on which the node depends. */
export interface NodeCertificate
  extends Pick<InventoryItem, 'name' | 'path' | 'state' | 'notBefore' | 'notAfter'> {
  /** Who makes another if it has expired when the node starts; absent: nobody. */
  readonly madeAgain?: string;
}

/** What a node that is to be shipped is judged by: read once, at `now`. */
export interface NodeFacts {
  readonly now: Date;
  /** Of the policy of the factory, the primary one first. */
  readonly internalAddresses: NodeIps;
  readonly nodeName: string;
  readonly shippingDays: number;
  /** Why it is not steady; undefined: it is. */
  readonly unsteady: string | undefined;
  /** Of those that OLM installs: what is not finished, and what the report tells besides. */
  readonly operators: { readonly faults: readonly string[]; readonly notes: readonly string[] };
  /** Which of them the bridge has not. */
  readonly missingOnBridge: readonly string[];
  /** InternalIPs of the Node; undefined: the API has no such Node. */
  readonly nodeAddresses: readonly string[] | undefined;
  /** Names of all Nodes. */
  readonly nodes: readonly string[];
  /** Of the Service kubernetes. */
  readonly apiEndpoints: readonly string[];
  /** Of the kubelet's environment. */
  readonly kubelet: { readonly nodeIps: readonly string[]; readonly nodeName: string | undefined };
  /** The networks in which kube-proxy opens node ports; undefined where the payload has no kube-proxy. */
  readonly nodePortAddresses: readonly string[] | undefined;
  readonly pods: readonly PodFacts[];
  /** Images that no pod names, and the file that does; undefined: the runtime has not got it. */
  readonly unitImages: readonly {
    readonly image: string;
    readonly path: string;
    readonly isPinned: boolean | undefined;
  }[];
  readonly certificates: readonly NodeCertificate[];
  /** Of the hardware clock, at `now`; undefined: the host has none. */
  readonly hardwareClock: Date | undefined;
  readonly isTimeSynchronized: boolean;
  /** What the cluster's DNS answers for kubernetes.default; or why it does not. */
  readonly clusterDns: readonly string[] | string;
  /** The address of the Service kubernetes. */
  readonly apiService: string;
  /** What the node's own name server answers for names of the node; or why it does not. Empty: it has none. */
  readonly ownNames: readonly {
    readonly name: string;
    readonly answer: readonly string[] | string;
  }[];
  /** Why it would refuse every site configuration; and which it would. */
  readonly arrival: { readonly faults: readonly string[]; readonly notes: readonly string[] };
  /** What else keeps a node of its kind of control plane from being relocated. */
  readonly otherFaults: readonly string[];
  /** What the report tells of that besides. */
  readonly otherNotes: readonly string[];
  readonly versions: { readonly kubernetes: string; readonly openshift?: string };
  /** What the cluster did when it was asked. */
  readonly probes: readonly ProbeResult[];
}

/** One line of the report. */
export interface ShippingCheck {
  readonly name: CheckName;
  /** What keeps the node from being shipped; empty: nothing. */
  readonly faults: readonly string[];
  /** What the report tells besides. */
  readonly notes: readonly string[];
}

export const CHECK_NAMES = [
  'settled',
  'services',
  'conformance',
  'images',
  'internal-address',
  'arrival',
  'certificates',
  'clock',
] as const;
export type CheckName = (typeof CHECK_NAMES)[number];
