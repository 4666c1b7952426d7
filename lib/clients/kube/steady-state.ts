import { type Facts, look, type Unchanged } from '../../base/wait/unchanged.ts';
import { isAfter, whyNodeNotReady } from './node-ready.ts';
import type { Conditioned, Lease, Node, Pod } from './resources.ts';

/** What the control plane of this host must consist of to be steady. */
export interface SteadyStateRequirements {
  readonly nodeName: string;
  readonly bootTime: Date;
  /** Static pods of kube-system that must exist, without the node's name: `etcd`, `kube-apiserver`. */
  readonly components: readonly string[];
  /** Leases of kube-system that must be held. */
  readonly leases: readonly string[];
  /** How long nothing may change. */
  readonly settlingWindowMs: number;
}

/** Everything that is observed, at one moment; a part is undefined until it has been read. */
export interface Observation {
  readonly at: Date;
  /** Why the API is not ready or cannot be watched; undefined when it can. */
  readonly apiProblem?: string | undefined;
  readonly node?: Node | undefined;
  readonly pods?: readonly Pod[] | undefined;
  readonly leases?: readonly Lease[] | undefined;
  readonly apiServices?: readonly Conditioned[] | undefined;
}

/** Since when the control plane is steady; `unsettled` is what does not meet the requirements, for people. */
export type SteadyState = Unchanged<string>;

/** The next state; an observation with missing parts leaves the facts as they were. */
export function observe(
  before: SteadyState,
  seen: Observation,
  required: SteadyStateRequirements,
): SteadyState {
  const parts = readParts(seen);
  if (parts === undefined) {
    return { facts: before.facts, unsettled: [seen.apiProblem ?? notReadYet], changes: [] };
  }
  const unsettled =
    seen.apiProblem === undefined ? findUnsettled(parts, seen.at, required) : [seen.apiProblem];
  return look(before, seen.at, collectFacts(parts, required), unsettled);
}

interface Parts {
  readonly node: Node | undefined;
  readonly pods: readonly Pod[];
  readonly leases: readonly Lease[];
  readonly apiServices: readonly Conditioned[];
}

const notReadYet = 'not all objects have been listed yet';

function readParts({ node, pods, leases, apiServices }: Observation): Parts | undefined {
  if (pods === undefined || leases === undefined || apiServices === undefined) return undefined;
  return { node, pods, leases, apiServices };
}

function findUnsettled(
  { node, pods, leases, apiServices }: Parts,
  now: Date,
  required: SteadyStateRequirements,
): string[] {
  return [
    whyNodeNotReady(node, required.bootTime),
    ...required.components.map((name) => whyMissing(name, pods, required)),
    ...mirrorPods(pods, required).map((pod) => whyPodUnsettled(pod, required.bootTime)),
    ...required.leases.map((name) => whyLeaseUnsettled(name, leases, now, required.bootTime)),
    ...apiServices.map(whyApiServiceUnavailable),
  ].filter((reason) => reason !== undefined);
}

/** The mirror pods of this node: what the kubelet shows of its static pods. */
export function mirrorPods(
  pods: readonly Pod[],
  { nodeName }: Pick<SteadyStateRequirements, 'nodeName'>,
): Pod[] {
  return pods.filter(
    ({ metadata }) =>
      metadata.annotations?.['kubernetes.io/config.mirror'] !== undefined &&
      metadata.name.endsWith(`-${nodeName}`),
  );
}

function whyMissing(
  component: string,
  pods: readonly Pod[],
  required: SteadyStateRequirements,
): string | undefined {
  const name = `${component}-${required.nodeName}`;
  const there = mirrorPods(pods, required).some(({ metadata }) => metadata.name === name);
  return there ? undefined : `pod ${name} does not exist`;
}

function whyPodUnsettled(pod: Pod, bootTime: Date): string | undefined {
  const { name, deletionTimestamp } = pod.metadata;
  if (deletionTimestamp !== undefined) return `pod ${name} is being deleted`;
  if (pod.status?.phase !== 'Running')
    return `pod ${name} is ${pod.status?.phase ?? 'not started'}`;
  const ready = pod.status.conditions?.find(({ type }) => type === 'Ready');
  if (ready?.status !== 'True') return `pod ${name} is not ready`;
  const old = pod.status.containerStatuses?.find(
    ({ state }) => !isAfter(state?.running?.startedAt, bootTime),
  );
  return old === undefined
    ? undefined
    : `container ${old.name} of ${name} has not started since this boot`;
}

/** What keeps a Lease of kube-system from being held in this boot, or undefined if it is. */
export function whyLeaseUnsettled(
  name: string,
  leases: readonly Lease[],
  now: Date,
  bootTime: Date,
): string | undefined {
  const spec = leases.find(({ metadata }) => metadata.name === name)?.spec;
  if (spec === undefined) return `lease ${name} is not held`;
  if (!spec.holderIdentity) return `lease ${name} has no holder`;
  if (!isAfter(spec.acquireTime, bootTime)) return `lease ${name} was acquired before this boot`;
  const lasts = (spec.leaseDurationSeconds ?? 0) * 1000;
  // NaN, which no time precedes, if it was never renewed.
  const renewed = Date.parse(String(spec.renewTime));
  return renewed + lasts >= now.getTime() ? undefined : `lease ${name} was not renewed in time`;
}

/** What keeps an APIService from being available, or undefined if it is. */
export function whyApiServiceUnavailable({ metadata, status }: Conditioned): string | undefined {
  const available = status?.conditions?.find(({ type }) => type === 'Available');
  if (available?.status === 'True') return undefined;
  return `API service ${metadata.name} is not available: ${available?.message ?? 'no condition'}`;
}

function collectFacts(seen: Parts, required: SteadyStateRequirements): Facts {
  const facts = new Map<string, string | null | undefined>();
  facts.set('node', seen.node?.metadata.uid);
  for (const pod of mirrorPods(seen.pods, required)) {
    const { name, annotations, generation } = pod.metadata;
    facts.set(`${name} manifest`, annotations?.['kubernetes.io/config.hash']);
    facts.set(`${name} generation`, String(generation ?? 0));
    for (const container of pod.status?.containerStatuses ?? []) {
      facts.set(`${name}/${container.name} restarts`, String(container.restartCount));
      facts.set(`${name}/${container.name} container`, container.containerID);
    }
  }
  for (const lease of seen.leases) {
    if (!required.leases.includes(lease.metadata.name)) continue;
    facts.set(`lease ${lease.metadata.name} holder`, lease.spec?.holderIdentity);
  }
  return facts;
}
