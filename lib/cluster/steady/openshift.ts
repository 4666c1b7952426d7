/**
 * What OpenShift's operators say of themselves. The database may be older than this boot, and an operator that
 * does not run leaves its last word in it: each statement counts only if a pod of the operator's namespace
 * has run since this boot.
 */
import { z } from 'zod';
import {
  type Conditioned,
  type objectSchema,
  type Resource,
  resources,
} from '../../clients/kube/resources.ts';
import type { OperatorState, StaticPodOperator } from '../openshift/operators.ts';
import { changedBy } from './changed-by.ts';
import {
  type Around,
  type Fact,
  moving,
  type SteadyFinding,
  type SteadyJudgement,
  unknown,
} from './finding.ts';

const conditioned = resources.apiServices.schema;
const config = 'config.openshift.io/v1';

const clusterVersionSchema = conditioned.and(
  z.looseObject({
    status: z
      .looseObject({
        observedGeneration: z.number().optional(),
        desired: z.looseObject({ version: z.string().optional() }).optional(),
        history: z.array(z.looseObject({ state: z.string(), version: z.string() })).nullish(),
      })
      .optional(),
  }),
);
type ClusterVersion = z.infer<typeof clusterVersionSchema>;

const clusterOperatorSchema = conditioned.and(
  z.looseObject({
    status: z
      .looseObject({
        relatedObjects: z
          .array(z.looseObject({ resource: z.string(), name: z.string() }))
          .nullish(),
      })
      .optional(),
  }),
);
type ClusterOperator = z.infer<typeof clusterOperatorSchema>;

const poolSchema = conditioned.and(
  z.looseObject({
    spec: z
      .looseObject({
        configuration: z
          .looseObject({
            name: z.string().optional(),
            /** The MachineConfigs of which it is made. */
            source: z.array(z.looseObject({ name: z.string().optional() })).nullish(),
          })
          .optional(),
      })
      .optional(),
    status: z
      .looseObject({
        observedGeneration: z.number().optional(),
        configuration: z.looseObject({ name: z.string().optional() }).optional(),
      })
      .optional(),
  }),
);
type Pool = z.infer<typeof poolSchema>;

export const clusterVersions: Resource<ClusterVersion> = {
  apiVersion: config,
  plural: 'clusterversions',
  schema: clusterVersionSchema,
};
export const clusterOperators: Resource<ClusterOperator> = {
  apiVersion: config,
  plural: 'clusteroperators',
  schema: clusterOperatorSchema,
};
export const machineConfigPools: Resource<Pool> = {
  apiVersion: 'machineconfiguration.openshift.io/v1',
  plural: 'machineconfigpools',
  schema: poolSchema,
};

export function judgeClusterVersions(
  all: readonly ClusterVersion[],
  around: Around,
): SteadyJudgement {
  return judgeEach(all, 'ClusterVersion', (version) => {
    const { history, observedGeneration } = version.status ?? {};
    return {
      operators: ['openshift-cluster-version'],
      around,
      reasons: [
        ...whyUnobserved(version, observedGeneration),
        ...conditionsOf(version, { Available: 'True', Progressing: 'False' }, { Failing: 'False' }),
        history?.[0]?.state === 'Completed'
          ? []
          : [
              `is at ${history?.[0]?.version ?? 'no version'}: ${history?.[0]?.state ?? 'no history'}`,
            ],
      ].flat(),
    };
  });
}

export function judgeClusterOperators(
  all: readonly ClusterOperator[],
  around: Around,
): SteadyJudgement {
  return judgeEach(all, 'ClusterOperator', (each) => ({
    operators: (each.status?.relatedObjects ?? [])
      .filter(({ resource }) => resource === 'namespaces')
      .map(({ name }) => name),
    around,
    reasons: conditionsOf(each, { Available: 'True', Progressing: 'False', Degraded: 'False' }),
  }));
}

export function judgePools(all: readonly Pool[], around: Around): SteadyJudgement {
  return judgeEach(all, 'MachineConfigPool', (pool) => {
    const wanted = pool.spec?.configuration?.name;
    const has = pool.status?.configuration?.name;
    return {
      operators: ['openshift-machine-config-operator'],
      around,
      reasons: [
        ...whyUnobserved(pool, pool.status?.observedGeneration),
        ...conditionsOf(pool, { Updated: 'True', Updating: 'False', Degraded: 'False' }),
        ...(wanted === has ? [] : [`changes from ${has ?? 'no configuration'} to ${wanted}`]),
      ],
    };
  });
}

/** Revisions of a static pod: the newest one is that of every node, and none is being installed. */
export const judgeRevisions =
  ({ kind, operatorNamespace }: StaticPodOperator) =>
  (all: readonly OperatorState[], around: Around): SteadyJudgement => {
    const judged = judgeEach(all, kind, ({ metadata, status }) => ({
      operators: [operatorNamespace],
      around,
      reasons: [
        ...whyUnobserved({ metadata }, status?.observedGeneration),
        ...whyRevisionMoves(status),
      ],
    }));
    const facts = all.map(
      ({ metadata, status }): Fact => [
        `${kind} ${metadata.name} revision`,
        String(status?.latestAvailableRevision),
      ],
    );
    return { findings: judged.findings, facts: [...judged.facts, ...facts] };
  };

function whyRevisionMoves(status: OperatorState['status']): string[] {
  const nodes = status?.nodeStatuses ?? [];
  if (nodes.length === 0) return ['has no revision on any node'];
  const newest = status?.latestAvailableRevision;
  return nodes.flatMap(({ nodeName, currentRevision = 0, targetRevision = 0 }) => {
    if (targetRevision !== 0 && targetRevision !== currentRevision) {
      return [`installs revision ${targetRevision} on ${nodeName}, which has ${currentRevision}`];
    }
    return currentRevision === newest
      ? []
      : [`has revision ${newest}, and ${nodeName} has ${currentRevision}`];
  });
}

interface Stated {
  /** Namespaces; one of them must have a pod of this boot. */
  readonly operators: readonly string[];
  readonly around: Around;
  readonly reasons: readonly string[];
}

function judgeEach<T extends z.infer<typeof objectSchema>>(
  all: readonly T[],
  kind: string,
  stated: (object: T) => Stated,
): SteadyJudgement {
  const findings = all.flatMap((each): SteadyFinding[] => {
    const object = `${kind} ${each.metadata.name}`;
    const { operators, around, reasons } = stated(each);
    if (!operators.some((namespace) => around.runsSinceBoot(namespace))) {
      const where = operators.length === 0 ? 'any namespace it names' : operators.join(' or ');
      return [unknown(object, `is as it was before this boot: no pod of ${where} has run since`)];
    }
    return reasons.map((reason) => moving(object, reason, changedBy(each)));
  });
  const facts = all.map(
    ({ metadata }): Fact => [`${kind} ${metadata.name} generation`, String(metadata.generation)],
  );
  return { findings, facts };
}

function whyUnobserved(
  { metadata }: z.infer<typeof objectSchema>,
  observed: number | undefined,
): string[] {
  if (observed === metadata.generation) return [];
  return [`has generation ${metadata.generation}, and its operator has seen ${observed ?? 'none'}`];
}

/** `mayLack`: a condition that is only reported when it is met. */
function conditionsOf(
  { status }: Conditioned,
  wanted: Readonly<Record<string, 'True' | 'False'>>,
  mayLack: Readonly<Record<string, 'True' | 'False'>> = {},
): string[] {
  const conditions = status?.conditions ?? [];
  return Object.entries({ ...wanted, ...mayLack }).flatMap(([type, expected]) => {
    const found = conditions.find((each) => each.type === type);
    if (found === undefined) return type in mayLack ? [] : [`has no condition ${type}`];
    if (found.status === expected) return [];
    const why = found.message ?? found.reason;
    return [`has ${type} ${found.status}${why === undefined ? '' : `: ${firstLine(why)}`}`];
  });
}

const firstLine = (text: string): string => text.split('\n')[0]?.slice(0, 300) ?? '';
