import t from 'tap';
import type { Lease, Node, Pod } from '../../../lib/kube/resources.ts';
import {
  leftMs,
  nothingObserved,
  type Observation,
  observe,
  type SteadyState,
} from '../../../lib/kube/steady-state.ts';

const bootTime = new Date('2030-01-01T00:00:00.500Z');
const required = {
  nodeName: 'n1',
  bootTime,
  components: ['etcd', 'kube-apiserver'],
  leases: ['kube-scheduler'],
  settlingWindowMs: 30_000,
};
const afterBoot = '2030-01-01T00:00:00Z';
const beforeBoot = '2029-12-31T23:59:59Z';
const at = (seconds: number) => new Date(bootTime.getTime() + seconds * 1000);

function node(heartbeat = afterBoot, status = 'True'): Node {
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

function pod(component: string, change: PodChange = {}): Pod {
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

function lease(change: { holder?: string; acquired?: string; renewed?: string } = {}): Lease {
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

const available = (status = 'True') => ({
  metadata: { name: 'v1.apps' },
  status: { conditions: [{ type: 'Available', status, message: 'why' }] },
});

function seen(seconds: number, change: Partial<Observation> = {}): Observation {
  return {
    at: at(seconds),
    node: node(),
    pods: [pod('etcd'), pod('kube-apiserver')],
    leases: [lease()],
    apiServices: [available()],
    ...change,
  };
}

const settle = (...observations: Observation[]): SteadyState =>
  observations.reduce(
    (state, observation) => observe(state, observation, required),
    nothingObserved,
  );

t.test('nothing changes for the window', async (t) => {
  const state = settle(seen(10), seen(20), seen(39));
  t.same(state.unsettled, []);
  t.same(state.since, at(10));
  t.equal(leftMs(state, at(39), required), 1000);
  t.equal(leftMs(state, at(40), required), 0);
});

const unsettled: { title: string; change: Partial<Observation>; reason: RegExp }[] = [
  { title: 'no node', change: { node: undefined }, reason: /not registered/ },
  {
    title: "yesterday's heartbeat",
    change: { node: node(beforeBoot) },
    reason: /before this boot/,
  },
  { title: 'node not Ready', change: { node: node(afterBoot, 'False') }, reason: /not Ready/ },
  { title: 'pods not read yet', change: { pods: undefined }, reason: /not sent all objects/ },
  {
    title: 'a component is missing',
    change: { pods: [pod('etcd')] },
    reason: /pod kube-apiserver-n1 does not exist/,
  },
  {
    title: 'a pod is pending',
    change: { pods: [pod('etcd', { phase: 'Pending' }), pod('kube-apiserver')] },
    reason: /etcd-n1 is Pending/,
  },
  {
    title: 'a pod is not ready',
    change: { pods: [pod('etcd'), pod('kube-apiserver', { ready: 'False' })] },
    reason: /kube-apiserver-n1 is not ready/,
  },
  {
    title: 'a container of the last boot',
    change: { pods: [pod('etcd', { startedAt: beforeBoot }), pod('kube-apiserver')] },
    reason: /container etcd of etcd-n1 is not running since this boot/,
  },
  {
    title: 'a pod on its way out',
    change: { pods: [pod('etcd'), pod('kube-apiserver', { deletionTimestamp: afterBoot })] },
    reason: /being deleted/,
  },
  {
    title: 'another static pod that does not run',
    change: { pods: [pod('etcd'), pod('kube-apiserver'), pod('extra', { phase: 'Failed' })] },
    reason: /extra-n1 is Failed/,
  },
  { title: 'no lease', change: { leases: [] }, reason: /kube-scheduler is not held/ },
  {
    title: 'a lease without holder',
    change: { leases: [lease({ holder: '' })] },
    reason: /no holder/,
  },
  {
    title: 'a lease of the last boot',
    change: { leases: [lease({ acquired: beforeBoot })] },
    reason: /held from before this boot/,
  },
  {
    title: 'a lease that is not renewed',
    change: { leases: [lease({ renewed: afterBoot })] },
    reason: /not renewed/,
  },
  {
    title: 'an API service',
    change: { apiServices: [available('False')] },
    reason: /v1\.apps.*why/,
  },
  { title: 'the API', change: { apiProblem: 'check etcd fails' }, reason: /check etcd fails/ },
];

t.test('anything unsettled restarts the window', async (t) => {
  for (const { title, change, reason } of unsettled) {
    const state = settle(seen(10), seen(60, change));
    t.match(state.unsettled, [reason], title);
    t.equal(leftMs(state, at(60), required), undefined, `${title}: no window`);
    t.same(observe(state, seen(61), required).since, at(61), `${title}: begins again`);
  }
});

t.test('a node is Ready by a condition of this boot that says True', async (t) => {
  const ready = (fields: object) => ({
    type: 'Ready',
    status: '',
    lastHeartbeatTime: afterBoot,
    ...fields,
  });
  const nodes = [
    [ready({ status: 'Unknown', message: 'kubelet stopped' }), /not Ready: kubelet stopped/],
    [ready({ status: 'False', reason: 'KubeletNotReady' }), /not Ready: KubeletNotReady/],
    [ready({ status: 'Unknown' }), /not Ready: Unknown/],
    [ready({ status: 'True', type: 'DiskPressure' }), /no Ready condition/],
    [ready({ status: 'True', lastHeartbeatTime: null }), /before this boot/],
  ] as const;
  for (const [condition, reason] of nodes) {
    const status = { conditions: [condition] };
    const state = settle(seen(1, { node: { metadata: { name: 'n1' }, status } }));
    t.match(state.unsettled, [reason]);
  }
});

t.test('mirror pods of other nodes do not matter', async (t) => {
  const other = pod('etcd');
  const away: Pod = { ...other, metadata: { ...other.metadata, name: 'etcd-n2' }, status: {} };
  const state = settle(seen(1, { pods: [pod('etcd'), pod('kube-apiserver'), away] }));
  t.same(state.unsettled, []);
  const none = settle(seen(1, { pods: [pod('kube-apiserver'), away] }));
  t.match(none.unsettled, [/pod etcd-n1 does not exist/]);
});

t.test('a lease of no component does not matter', async (t) => {
  const other = { ...lease({ holder: 'x' }), metadata: { name: 'other' } };
  const later = { ...lease({ holder: 'y' }), metadata: { name: 'other' } };
  const state = settle(
    seen(1, { leases: [lease(), other] }),
    seen(2, { leases: [lease(), later] }),
  );
  t.same(state.changes, []);
  t.same(state.since, at(1));
});

t.test('a lease is renewed until its last second', async (t) => {
  const leases = [lease({ renewed: afterBoot })];
  t.same(settle({ ...seen(1, { leases }), at: new Date('2030-01-01T00:00:15Z') }).unsettled, []);
  const late = settle({ ...seen(1, { leases }), at: new Date('2030-01-01T00:00:15.001Z') });
  t.match(late.unsettled, [/not renewed/]);
});

function withStatus(component: string, fields: object): Pod {
  const plain = pod(component);
  const statuses = plain.status?.containerStatuses ?? [];
  const containerStatuses = statuses.map((status) => ({ ...status, ...fields }));
  return { ...plain, status: { ...plain.status, containerStatuses } };
}

const changes: { title: string; change: Partial<Observation>; told: RegExp }[] = [
  {
    title: 'another container without a restart',
    change: { pods: [withStatus('etcd', { containerID: 'new' }), pod('kube-apiserver')] },
    told: /etcd-n1\/etcd container: c0 -> new/,
  },
  {
    title: 'another generation',
    change: {
      pods: [
        { ...pod('etcd'), metadata: { ...pod('etcd').metadata, generation: 2 } },
        pod('kube-apiserver'),
      ],
    },
    told: /etcd-n1 generation: 0 -> 2/,
  },
  {
    title: 'another node of this name',
    change: { node: { ...node(), metadata: { name: 'n1', uid: 'v' } } },
    told: /node: u -> v/,
  },
  {
    title: 'a restart',
    change: { pods: [pod('etcd', { restarts: 1 }), pod('kube-apiserver')] },
    told: /etcd-n1\/etcd restarts: 0 -> 1/,
  },
  {
    title: 'another manifest',
    change: { pods: [pod('etcd'), pod('kube-apiserver', { hash: 'h2' })] },
    told: /kube-apiserver-n1 manifest: h -> h2/,
  },
  {
    title: 'another leader',
    change: { leases: [lease({ holder: 'n1_b' })] },
    told: /lease kube-scheduler holder: n1_a -> n1_b/,
  },
  {
    title: 'one more static pod',
    change: { pods: [pod('etcd'), pod('kube-apiserver'), pod('extra')] },
    told: /extra-n1/,
  },
];

t.test('a change is reported and restarts the window', async (t) => {
  for (const { title, change, told } of changes) {
    const state = settle(seen(10), seen(30, change));
    t.same(state.unsettled, [], title);
    t.match(state.changes.join('; '), told, `${title}: told`);
    t.same(state.since, at(30), `${title}: window`);
  }
});

t.test('what is read piece by piece at the start is not a change', async (t) => {
  const state = settle(seen(1, { pods: undefined }), seen(2, { leases: undefined }), seen(3));
  t.same(state.changes, []);
  t.same(state.since, at(3));
});

t.test('pods that are not static pods of this node do not matter', async (t) => {
  const other: Pod = { metadata: { name: 'coredns-n1' }, status: { phase: 'Pending' } };
  const state = settle(seen(1, { pods: [pod('etcd'), pod('kube-apiserver'), other] }));
  t.same(state.unsettled, []);
});
