import type { Resource } from '../../clients/kube/resources.ts';
import type { Identity } from './identity.ts';
import {
  type ListedObjects,
  listed,
  type NodeObject,
  type PodObject,
  type VolumeObject,
} from './objects.ts';

interface Target {
  readonly resource: Pick<Resource, 'apiVersion' | 'plural'>;
  readonly namespace?: string | undefined;
  readonly name: string;
}

/** One request to the API server. */
export type IdentityChange =
  | (Target & { readonly do: 'create'; readonly body: object })
  /** `uid`: only this object, not one that has got its name since. At once, without its finalizers if so said. */
  | (Target & {
      readonly do: 'delete';
      readonly uid: string | undefined;
      readonly dropsFinalizers?: true;
    })
  /** A merge patch. */
  | (Target & { readonly do: 'patch'; readonly body: object })
  /** The whole object, if it exists. */
  | (Target & { readonly do: 'replace'; readonly body: object });

/** What has to be known besides the objects. */
export interface Wanted {
  readonly from: Identity;
  readonly to: Identity;
  /** PEM: what the API server's clients trust from now on. */
  readonly rootCa: string;
  /** Volumes as they were before an interrupted run deleted them. */
  readonly saved: readonly VolumeObject[];
}

/**
 * What is to be done, in this order, so that the objects are those of the new identity; empty when they
 * are. It is computed from what is there, so that an interrupted run goes on. Controllers must not run:
 * one would take a claim whose volume is replaced for lost.
 */
export function changesOf(wanted: Wanted, objects: ListedObjects): IdentityChange[] {
  return [
    ...(wanted.from.hostname === wanted.to.hostname
      ? addressOnly(wanted, objects)
      : renamed(wanted, objects)),
    ...rootCas(wanted, objects),
  ];
}

/** Pods in the host's network have its address; the kubelet replaces those of the control plane. */
const addressOnly = ({ from, to }: Wanted, { pods }: ListedObjects): IdentityChange[] =>
  from.nodeIps.join() === to.nodeIps.join()
    ? []
    : pods
        .filter((pod) => isOn(from, pod) && pod.spec.hostNetwork === true && isPresent(pod))
        .filter(({ status }) => !hasAddress(status, to))
        .map((pod) => deletion(listed.pods, pod));

const hasAddress = (status: unknown, { nodeIps: [address] }: Identity): boolean =>
  typeof status === 'object' && status !== null && 'hostIP' in status && status.hostIP === address;

function renamed(wanted: Wanted, objects: ListedObjects): IdentityChange[] {
  const { from, to } = wanted;
  const old = objects.nodes.find(({ metadata }) => metadata.name === from.hostname);
  const isThere = objects.nodes.some(({ metadata }) => metadata.name === to.hostname);
  const isOfOld = ({ metadata }: { metadata: { name: string } }) => metadata.name === from.hostname;
  return [
    ...(old !== undefined && !isThere ? [newNode(old, to.hostname)] : []),
    ...volumes(wanted, objects),
    ...objects.claims.filter((claim) => waitsFor(from, claim)).map(withoutSelectedNode),
    ...objects.pods
      .filter((pod) => isOn(from, pod) && isPresent(pod))
      .map((pod) => deletion(listed.pods, pod)),
    ...objects.attachments
      .filter(({ spec }) => spec.nodeName === from.hostname)
      .map((each) => ({ ...deletion(listed.attachments, each), dropsFinalizers: true as const })),
    ...objects.csiNodes.filter(isOfOld).map((each) => deletion(listed.csiNodes, each)),
    ...objects.leases.filter(isOfOld).map((each) => deletion(listed.leases, each)),
    ...(old === undefined ? [] : [deletion(listed.nodes, old)]),
  ];
}

/** The pods that nothing creates again. */
export const lostPods = ({ from, to }: Pick<Wanted, 'from' | 'to'>, pods: readonly PodObject[]) =>
  pods.filter(
    (pod) =>
      isOn(from, pod) &&
      isPresent(pod) &&
      (from.hostname !== to.hostname || pod.spec.hostNetwork === true) &&
      pod.metadata.annotations?.[MIRROR] === undefined &&
      !(pod.metadata.ownerReferences ?? []).some(({ controller }) => controller === true),
  );

const MIRROR = 'kubernetes.io/config.mirror';
const HOSTNAME = 'kubernetes.io/hostname';
/** What the kubelet and its plugins say of themselves; they say it again. */
const OF_KUBELET = ['csi.volume.kubernetes.io/nodeid'];
/** Set and removed by the controllers, for the state of a Node. */
const OF_STATE =
  /^node\.kubernetes\.io\/(not-ready|unreachable|network-unavailable|(memory|disk|pid)-pressure)$/;

/**
 * The Node under its new name. Its pod subnets stay, since the pod network is configured for them, and
 * a Node that the kubelet registers would get the next ones.
 */
function newNode({ metadata, spec = {}, status = {} }: NodeObject, name: string): IdentityChange {
  const { capacity, allocatable } = status;
  const { podCIDR, podCIDRs, taints = [], unschedulable, providerID } = spec;
  const annotations = Object.entries(metadata.annotations ?? {}).filter(
    ([key]) => !OF_KUBELET.includes(key),
  );
  const body = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: { ...metadata.labels, [HOSTNAME]: name },
      annotations: Object.fromEntries(annotations),
    },
    spec: {
      podCIDR,
      podCIDRs,
      taints: taints.filter(({ key }) => !OF_STATE.test(key)),
      unschedulable,
      providerID,
    },
    // The kubelet admits pods by what the Node says (pkg/kubelet/lifecycle/predicate.go). Without it, it rejects
    // its static pods, and never tries again.
    status: { capacity, allocatable },
  };
  return { do: 'create', resource: listed.nodes, name, body };
}

/** The nodeAffinity of a volume cannot be changed: it is deleted and created again under its name. */
function volumes(
  { from, to, saved }: Wanted,
  { volumes: present }: ListedObjects,
): IdentityChange[] {
  const tied = present.filter((volume) => isTiedTo(from.hostname, volume));
  const isThere = ({ metadata }: VolumeObject) =>
    present.some((volume) => volume.metadata.name === metadata.name);
  const deleted = saved.filter((volume) => !isThere(volume));
  return [
    ...tied.flatMap((volume): IdentityChange[] => [
      { ...deletion(listed.volumes, volume), dropsFinalizers: true },
      recreation(volume, from.hostname, to.hostname),
    ]),
    ...deleted.map((volume) => recreation(volume, from.hostname, to.hostname)),
  ];
}

/** Whether a volume can be used on the Node of that name only. One that is being deleted is left to its end. */
export const isTiedTo = (hostname: string, { metadata, spec }: VolumeObject): boolean =>
  metadata.deletionTimestamp === undefined &&
  (spec.nodeAffinity?.required?.nodeSelectorTerms ?? []).some(({ matchExpressions = [] }) =>
    matchExpressions.some(({ values = [] }) => values.includes(hostname)),
  );

/** With its claim, by uid, the policy for its end, and everything else that it had. */
function recreation({ metadata, spec }: VolumeObject, from: string, to: string): IdentityChange {
  const { name, labels, annotations, finalizers } = metadata;
  const nodeSelectorTerms = (spec.nodeAffinity?.required?.nodeSelectorTerms ?? []).map((term) => ({
    ...term,
    matchExpressions: term.matchExpressions?.map((expression) => ({
      ...expression,
      values: expression.values?.map((value) => (value === from ? to : value)),
    })),
  }));
  const body = {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name, labels, annotations, finalizers },
    spec: { ...spec, nodeAffinity: { required: { nodeSelectorTerms } } },
  };
  return { do: 'create', resource: listed.volumes, name, body };
}

/** The scheduler's choice for a claim that has no volume yet. */
const SELECTED_NODE = 'volume.kubernetes.io/selected-node';

const waitsFor = (
  { hostname }: Identity,
  { metadata, spec }: ListedObjects['claims'][number],
): boolean => metadata.annotations?.[SELECTED_NODE] === hostname && (spec.volumeName ?? '') === '';

const withoutSelectedNode = ({ metadata }: ListedObjects['claims'][number]): IdentityChange => ({
  do: 'patch',
  resource: listed.claims,
  namespace: metadata.namespace,
  name: metadata.name,
  body: { metadata: { annotations: { [SELECTED_NODE]: null } } },
});

const rootCas = ({ rootCa }: Wanted, objects: ListedObjects): IdentityChange[] =>
  objects.rootCas
    .filter(({ data }) => data?.['ca.crt'] !== rootCa)
    .map(({ metadata }) => ({
      do: 'patch',
      resource: listed.configMaps,
      namespace: metadata.namespace,
      name: metadata.name,
      body: { data: { 'ca.crt': rootCa } },
    }));

const isOn = ({ hostname }: Identity, { spec }: PodObject): boolean => spec.nodeName === hostname;

/**
 * One that was deleted with a grace period waits for a kubelet that does not run. One that was deleted without
 * waits for a finalizer, such as that of its Job, and is as good as gone.
 */
const isPresent = ({ metadata }: PodObject): boolean => metadata.deletionGracePeriodSeconds !== 0;

function deletion(
  resource: Target['resource'],
  {
    metadata,
  }: { metadata: { name: string; namespace?: string | undefined; uid?: string | undefined } },
): Extract<IdentityChange, { do: 'delete' }> {
  const { name, namespace, uid } = metadata;
  return { do: 'delete', resource, namespace, name, uid };
}
