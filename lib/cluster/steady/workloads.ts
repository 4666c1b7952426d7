import { z } from 'zod';
import { objectSchema, type Resource } from '../../clients/kube/resources.ts';
import { changedBy, nameOf } from './changed-by.ts';
import { moving, type SteadyFinding, type SteadyJudgement } from './finding.ts';

const count = z.number().default(0);
const strategy = z.looseObject({ type: z.string().optional() }).default({});

const deploymentSchema = objectSchema.extend({
  spec: z.looseObject({ replicas: z.number().default(1), paused: z.boolean().default(false) }),
  status: z
    .looseObject({
      observedGeneration: z.number().optional(),
      replicas: count,
      updatedReplicas: count,
      availableReplicas: count,
    })
    .prefault({}),
});
type Deployment = z.infer<typeof deploymentSchema>;

const statefulSetSchema = objectSchema.extend({
  spec: z.looseObject({ replicas: z.number().default(1), updateStrategy: strategy }),
  status: z
    .looseObject({
      observedGeneration: z.number().optional(),
      replicas: count,
      readyReplicas: count,
      currentRevision: z.string().optional(),
      updateRevision: z.string().optional(),
    })
    .prefault({}),
});
type StatefulSet = z.infer<typeof statefulSetSchema>;

const daemonSetSchema = objectSchema.extend({
  spec: z.looseObject({ updateStrategy: strategy }),
  status: z
    .looseObject({
      observedGeneration: z.number().optional(),
      desiredNumberScheduled: count,
      updatedNumberScheduled: count,
      numberAvailable: count,
      numberMisscheduled: count,
    })
    .prefault({}),
});
type DaemonSet = z.infer<typeof daemonSetSchema>;

const apps = 'apps/v1';
export const deployments: Resource<Deployment> = {
  apiVersion: apps,
  plural: 'deployments',
  schema: deploymentSchema,
};
export const statefulSets: Resource<StatefulSet> = {
  apiVersion: apps,
  plural: 'statefulsets',
  schema: statefulSetSchema,
};
export const daemonSets: Resource<DaemonSet> = {
  apiVersion: apps,
  plural: 'daemonsets',
  schema: daemonSetSchema,
};

export const judgeDeployments = (all: readonly Deployment[]): SteadyJudgement =>
  judged('Deployment', all, ({ spec, status }) => {
    const { replicas, updatedReplicas, availableReplicas } = status;
    // A paused rollout waits for a person, not for its controller.
    if (!spec.paused && updatedReplicas < spec.replicas) {
      return `has updated ${updatedReplicas} of ${spec.replicas} replicas`;
    }
    if (replicas !== spec.replicas) return `has ${replicas} replicas instead of ${spec.replicas}`;
    if (availableReplicas >= spec.replicas) return undefined;
    return `has ${availableReplicas} of ${spec.replicas} replicas available`;
  });

export const judgeStatefulSets = (all: readonly StatefulSet[]): SteadyJudgement =>
  judged('StatefulSet', all, ({ spec, status }) => {
    const { replicas, readyReplicas, currentRevision, updateRevision } = status;
    if (replicas !== spec.replicas) return `has ${replicas} replicas instead of ${spec.replicas}`;
    if (readyReplicas < spec.replicas) {
      return `has ${readyReplicas} of ${spec.replicas} replicas ready`;
    }
    // With OnDelete, the new revision waits for a person.
    if (spec.updateStrategy.type === 'OnDelete' || currentRevision === updateRevision)
      return undefined;
    return `is being updated to revision ${updateRevision}`;
  });

export const judgeDaemonSets = (all: readonly DaemonSet[]): SteadyJudgement =>
  judged('DaemonSet', all, ({ spec, status }) => {
    const { desiredNumberScheduled, updatedNumberScheduled, numberAvailable, numberMisscheduled } =
      status;
    if (numberMisscheduled > 0) return `has ${numberMisscheduled} pods where none belong`;
    if (
      spec.updateStrategy.type !== 'OnDelete' &&
      updatedNumberScheduled < desiredNumberScheduled
    ) {
      return `has updated ${updatedNumberScheduled} of ${desiredNumberScheduled} pods`;
    }
    if (numberAvailable >= desiredNumberScheduled) return undefined;
    return `has ${numberAvailable} of ${desiredNumberScheduled} pods available`;
  });

type Workload = Deployment | StatefulSet | DaemonSet;

function judged<T extends Workload>(
  kind: string,
  all: readonly T[],
  why: (workload: T) => string | undefined,
): SteadyJudgement {
  return {
    findings: all.flatMap((each): SteadyFinding[] => {
      const object = `${kind} ${nameOf(each)}`;
      const what = whyUnobserved(each) ?? why(each);
      return what === undefined ? [] : [moving(object, what, changedBy(each))];
    }),
    facts: all.map((each) => [
      `${kind} ${nameOf(each)} generation`,
      String(each.metadata.generation),
    ]),
  };
}

/** Its controller has not seen the newest version, so its status is of an older one. */
function whyUnobserved({ metadata, status }: Workload): string | undefined {
  if (metadata.deletionTimestamp !== undefined) return 'is being deleted';
  const { generation } = metadata;
  if (status.observedGeneration === generation) return undefined;
  return `has generation ${generation}, and its controller has seen ${status.observedGeneration ?? 'none'}`;
}
