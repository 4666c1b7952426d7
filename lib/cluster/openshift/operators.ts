import { z } from 'zod';
import { objectSchema, type Resource } from '../../clients/kube/resources.ts';

/**
 * An operator that takes over a static pod of the bootstrap: it writes its own pod into the file of
 * the bootstrap's, revision by revision (library-go, pkg/operator/staticpod).
 */
export interface StaticPodOperator {
  /** Name in the release, as in lib/render/openshift/static-pods.ts. */
  readonly component: string;
  /** Of its configuration, an object of operator.openshift.io/v1 with the name `cluster`. */
  readonly plural: string;
  readonly kind: string;
  /** Namespace of the operator itself. */
  readonly operatorNamespace: string;
  /** Namespace of its pods and of the records of their revisions. */
  readonly namespace: string;
  /** Name of its static pod, to which the kubelet adds that of the node. */
  readonly pod: string;
}

export const staticPodOperators: readonly StaticPodOperator[] = [
  {
    component: 'etcd',
    plural: 'etcds',
    kind: 'Etcd',
    operatorNamespace: 'openshift-etcd-operator',
    namespace: 'openshift-etcd',
    pod: 'etcd',
  },
  {
    component: 'kube-apiserver',
    plural: 'kubeapiservers',
    kind: 'KubeAPIServer',
    operatorNamespace: 'openshift-kube-apiserver-operator',
    namespace: 'openshift-kube-apiserver',
    pod: 'kube-apiserver',
  },
  {
    component: 'kube-controller-manager',
    plural: 'kubecontrollermanagers',
    kind: 'KubeControllerManager',
    operatorNamespace: 'openshift-kube-controller-manager-operator',
    namespace: 'openshift-kube-controller-manager',
    pod: 'kube-controller-manager',
  },
  {
    component: 'kube-scheduler',
    plural: 'kubeschedulers',
    kind: 'KubeScheduler',
    operatorNamespace: 'openshift-kube-scheduler-operator',
    namespace: 'openshift-kube-scheduler',
    pod: 'openshift-kube-scheduler',
  },
];

const conditionSchema = z.looseObject({
  type: z.string(),
  status: z.string(),
  reason: z.string().optional(),
  message: z.string().optional(),
  lastTransitionTime: z.iso.datetime({ offset: true }).nullish(),
});

const nodeStatusSchema = z.looseObject({
  nodeName: z.string(),
  /** What runs; 0 or absent before the operator's first pod. */
  currentRevision: z.number().optional(),
  /** What is being installed; 0 or absent if nothing is. */
  targetRevision: z.number().optional(),
  lastFailedRevision: z.number().optional(),
  lastFailedRevisionErrors: z.array(z.string()).optional(),
});

const operatorSchema = objectSchema.extend({
  status: z
    .looseObject({
      observedGeneration: z.number().optional(),
      latestAvailableRevision: z.number().optional(),
      nodeStatuses: z.array(nodeStatusSchema).nullish(),
      conditions: z.array(conditionSchema).nullish(),
    })
    .optional(),
});

/** What an operator of static pods says in its configuration. */
export type OperatorState = z.infer<typeof operatorSchema>;

/** The configurations of such an operator, one of which is named `cluster`. */
export const operatorResource = ({ plural }: StaticPodOperator): Resource<OperatorState> => ({
  apiVersion: 'operator.openshift.io/v1',
  plural,
  schema: operatorSchema,
});

const conditionedSchema = objectSchema.extend({
  status: z.looseObject({ conditions: z.array(conditionSchema).nullish() }).optional(),
});

/** A ClusterVersion or a ClusterOperator: what it says is in its conditions. */
export type ClusterState = z.infer<typeof conditionedSchema>;

const config = 'config.openshift.io/v1';

export const clusterResources = {
  versions: { apiVersion: config, plural: 'clusterversions', schema: conditionedSchema },
  operators: { apiVersion: config, plural: 'clusteroperators', schema: conditionedSchema },
} as const;

/** The only ClusterVersion. */
export const CLUSTER_VERSION = 'version';
