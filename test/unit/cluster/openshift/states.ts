import type { ClusterState, OperatorState } from '../../../../lib/cluster/openshift/operators.ts';

export const NODE = 'edge-0';
export const BOOT = new Date('2030-01-01T00:00:00Z');
export const AFTER_BOOT = '2030-01-01T00:05:00Z';
export const BEFORE_BOOT = '2029-12-31T23:00:00Z';

type NodeStatus = NonNullable<NonNullable<OperatorState['status']>['nodeStatuses']>[number];

/** The configuration of an operator whose newest revision is `latest`. */
export const operatorState = (
  latest: number,
  status: Partial<NodeStatus> | 'no node' = {},
  more: object = {},
): OperatorState => ({
  metadata: { name: 'cluster' },
  status: {
    ...more,
    latestAvailableRevision: latest,
    nodeStatuses: status === 'no node' ? [] : [{ nodeName: NODE, ...status }],
  },
});

/** An operator's static pod as the kubelet shows it. */
export const staticPod = (name: string, revision: number | undefined, more: object = {}) => ({
  metadata: {
    name: `${name}-${NODE}`,
    ...(revision === undefined ? {} : { labels: { revision: String(revision) } }),
  },
  status: {
    phase: 'Running',
    conditions: [{ type: 'Ready', status: 'True' }],
    containerStatuses: [{ name, restartCount: 0, state: { running: { startedAt: AFTER_BOOT } } }],
  },
  ...more,
});

export const revisionStatus = (revision: number, reason?: string, ready = 'true') => ({
  metadata: {
    name: `revision-status-${revision}`,
    annotations: { 'operator.openshift.io/revision-ready': ready },
  },
  data: { revision: String(revision), ...(reason === undefined ? {} : { reason }) },
});

type Conditions = Readonly<Record<string, [status: string, message?: string, since?: string]>>;

/** A ClusterVersion or ClusterOperator. */
export const withConditions = (name: string, conditions: Conditions): ClusterState => ({
  metadata: { name },
  status: {
    conditions: Object.entries(conditions).map(([type, [status, message, since]]) => ({
      type,
      status,
      ...(message === undefined ? {} : { message }),
      ...(since === undefined ? {} : { lastTransitionTime: since }),
    })),
  },
});
