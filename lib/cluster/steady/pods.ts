import { z } from 'zod';
import { isAfter } from '../../clients/kube/node-ready.ts';
import { type Pod, type Resource, resources } from '../../clients/kube/resources.ts';
import { nameOf } from './changed-by.ts';
import {
  type Around,
  type Fact,
  moving,
  type SteadyFinding,
  type SteadyJudgement,
  unknown,
} from './finding.ts';

const placedPodSchema = resources.pods.schema.and(
  z.looseObject({
    metadata: z.looseObject({
      ownerReferences: z.array(z.looseObject({ kind: z.string(), name: z.string() })).optional(),
    }),
    spec: z.looseObject({ nodeName: z.string().optional() }).optional(),
  }),
);
/** A pod with where it runs and what it belongs to. */
export type PlacedPod = z.infer<typeof placedPodSchema>;

export const placedPods: Resource<PlacedPod> = { ...resources.pods, schema: placedPodSchema };

const CONFIG_HASH = 'kubernetes.io/config.hash';

/** The pods that this host runs or that no host runs yet. Those of Jobs come and go, and are left out. */
export const ownPods = (pods: readonly PlacedPod[], nodeName: string): PlacedPod[] =>
  pods.filter(({ metadata, spec, status }) => {
    if (metadata.ownerReferences?.some(({ kind }) => kind === 'Job')) return false;
    if (status?.phase === 'Succeeded' || status?.phase === 'Failed') return false;
    return spec?.nodeName === undefined || spec.nodeName === nodeName;
  });

/** Every pod of this host is Ready, and all its containers were started in this boot. */
export function judgePods(
  pods: readonly PlacedPod[],
  { bootTime }: Pick<Around, 'bootTime'>,
): SteadyJudgement {
  return {
    findings: pods.flatMap((pod) => whyUnsteady(pod, bootTime) ?? []),
    facts: pods.flatMap(factsOf),
  };
}

/** Whether all containers of the pod run and were started in this boot. */
export const runsSince = ({ status }: Pod, bootTime: Date): boolean => {
  const containers = status?.containerStatuses ?? [];
  return (
    containers.length > 0 &&
    containers.every(({ state }) => isAfter(state?.running?.startedAt, bootTime))
  );
};

function whyUnsteady(pod: PlacedPod, bootTime: Date): SteadyFinding | undefined {
  const object = `Pod ${nameOf(pod)}`;
  const { metadata, spec, status } = pod;
  const by = ownerOf(pod);
  if (metadata.deletionTimestamp !== undefined) return moving(object, 'is being deleted', by);
  if (spec?.nodeName === undefined) return moving(object, 'has no node yet', by);
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready?.status !== 'True') return moving(object, `is not ready${whyWaiting(pod)}`, by);
  if (runsSince(pod, bootTime)) return undefined;
  return unknown(object, 'is as the kubelet left it before this boot');
}

function whyWaiting({ status }: Pod): string {
  const waiting = status?.containerStatuses?.map(({ state }) => state?.waiting);
  const reason = waiting?.map((each) => each?.reason ?? each?.message).find(Boolean);
  const text = reason ?? (status?.phase === 'Running' ? undefined : status?.phase);
  return text === undefined ? '' : `: ${text}`;
}

/** Its static pod manifest, or the object that made it. */
function ownerOf({ metadata }: PlacedPod): string | undefined {
  const [owner] = metadata.ownerReferences ?? [];
  return owner === undefined ? undefined : `of ${owner.kind} ${owner.name}`;
}

function factsOf(pod: PlacedPod): Fact[] {
  const name = `Pod ${nameOf(pod)}`;
  const { annotations = {}, uid } = pod.metadata;
  // A mirror pod is made again after a restart of the API server; its manifest says whether it changed.
  const identity: Fact =
    CONFIG_HASH in annotations
      ? [`${name} manifest`, annotations[CONFIG_HASH]]
      : [`${name} uid`, uid];
  const containers = (pod.status?.containerStatuses ?? []).map(
    ({ name: container, restartCount, containerID }): Fact => [
      `${name} container ${container}`,
      `${containerID ?? 'none'}, restarted ${restartCount} times`,
    ],
  );
  return [identity, ...containers];
}
