import { neverSeen } from '../../../../lib/base/wait/unchanged.ts';
import type { Lease, Node, Pod } from '../../../../lib/clients/kube/resources.ts';
import {
  type Observation,
  observe,
  type SteadyState,
} from '../../../../lib/clients/kube/steady-state.ts';

export const bootTime = new Date('2030-01-01T00:00:00.500Z');
export const required = {
  nodeName: 'n1',
  bootTime,
  components: ['etcd', 'kube-apiserver'],
  leases: ['kube-scheduler'],
  settlingWindowMs: 30_000,
};
export const afterBoot = '2030-01-01T00:00:00Z';
export const beforeBoot = '2029-12-31T23:59:59Z';
export const at = (seconds: number) => new Date(bootTime.getTime() + seconds * 1000);

export function node(heartbeat = afterBoot, status = 'True'): Node {
  const condition = { type: 'Ready', status, lastHeartbeatTime: heartbeat };
  return { metadata: { name: 'n1', uid: 'u' }, status: { conditions: [condition] } };
}

interface PodChange {
  phase?: string;
  ready?: string;
  startedAt?: string;
  restarts?: number;
  hash?: string;
  deletionTimestamp?: string;
}

export function pod(component: string, change: PodChange = {}): Pod {
  const {
    phase = 'Running',
    ready = 'True',
    startedAt = afterBoot,
    restarts = 0,
    hash = 'h',
  } = change;
  return {
    metadata: {
      name: `${component}-n1`,
      annotations: { 'kubernetes.io/config.mirror': hash, 'kubernetes.io/config.hash': hash },
      ...(change.deletionTimestamp === undefined
        ? {}
        : { deletionTimestamp: change.deletionTimestamp }),
    },
    status: {
      phase,
      conditions: [{ type: 'Ready', status: ready }],
      containerStatuses: [
        {
          name: component,
          restartCount: restarts,
          containerID: `c${restarts}`,
          state: { running: { startedAt } },
        },
      ],
    },
  };
}

export function lease(
  change: { holder?: string; acquired?: string; renewed?: string } = {},
): Lease {
  const { holder = 'n1_a', acquired = afterBoot, renewed = '2030-01-01T00:59:59.123456Z' } = change;
  return {
    metadata: { name: 'kube-scheduler' },
    spec: {
      holderIdentity: holder,
      acquireTime: acquired,
      renewTime: renewed,
      leaseDurationSeconds: 15,
    },
  };
}

export const available = (status = 'True') => ({
  metadata: { name: 'v1.apps' },
  status: { conditions: [{ type: 'Available', status, message: 'why' }] },
});

export function seen(seconds: number, change: Partial<Observation> = {}): Observation {
  return {
    at: at(seconds),
    node: node(),
    pods: [pod('etcd'), pod('kube-apiserver')],
    leases: [lease()],
    apiServices: [available()],
    ...change,
  };
}

export const settle = (...observations: Observation[]): SteadyState =>
  observations.reduce<SteadyState>(
    (state, observation) => observe(state, observation, required),
    neverSeen,
  );

export const away = (component: string): Pod => {
  const plain = pod(component);
  return { ...plain, metadata: { ...plain.metadata, name: `${component}-n2` }, status: {} };
};
export const other: Lease = { ...lease({ holder: '' }), metadata: { name: 'other' } };
export const withPod = (etcd: Pod) => ({ pods: [away('x'), etcd, pod('kube-apiserver')] });
export const withSpec = (spec: Lease['spec']) => ({
  leases: [other, { metadata: { name: 'kube-scheduler' }, spec: { ...lease().spec, ...spec } }],
});
export const etcd = pod('etcd');
export const withEtcd = (status: Pod['status']) =>
  withPod({ ...etcd, status: { ...etcd.status, ...status } });
