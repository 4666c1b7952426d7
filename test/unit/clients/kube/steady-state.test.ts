import t from 'tap';
import { leftMs } from '../../../../lib/base/wait/unchanged.ts';
import type { Pod } from '../../../../lib/clients/kube/resources.ts';
import type { Observation } from '../../../../lib/clients/kube/steady-state.ts';
import {
  afterBoot,
  at,
  etcd,
  lease,
  node,
  other,
  pod,
  required,
  seen,
  settle,
  withPod,
} from './control-plane-objects.ts';

t.test('nothing changes for the window', async (t) => {
  const state = settle(seen(10), seen(20), seen(39));
  t.same(state.unsettled, []);
  t.same(state.since, at(10));
  t.equal(leftMs(state, at(39), required.settlingWindowMs), 1000);
  t.equal(leftMs(state, at(40), required.settlingWindowMs), 0);
  t.equal(leftMs(state, at(50), required.settlingWindowMs), 0);
});

t.test('a lease of something other than a component does not matter', async (t) => {
  const later = { ...other, spec: { holderIdentity: 'y' } };
  const state = settle(
    seen(1, { leases: [lease(), other] }),
    seen(2, { leases: [lease(), later] }),
  );
  t.same(state, { ...state, unsettled: [], changes: [], since: at(1) });
});

t.test('a lease counts as renewed until its last second', async (t) => {
  const leases = [lease({ renewed: afterBoot })];
  t.same(settle({ ...seen(1, { leases }), at: new Date('2030-01-01T00:00:15Z') }).unsettled, []);
  const late = settle({ ...seen(1, { leases }), at: new Date('2030-01-01T00:00:15.001Z') });
  t.match(late.unsettled, [/not renewed in time/]);
});

function withStatus(component: string, fields: object): Pod {
  const plain = pod(component);
  const statuses = plain.status?.containerStatuses ?? [];
  const containerStatuses = statuses.map((status) => ({ ...status, ...fields }));
  return { ...plain, status: { ...plain.status, containerStatuses } };
}

const unnamed = {
  ...pod('etcd'),
  metadata: { name: 'etcd-n1', annotations: { 'kubernetes.io/config.mirror': 'h' } },
};
const changes: { title: string; change: Partial<Observation>; told: string[] }[] = [
  {
    title: 'another container without a restart',
    change: withPod(withStatus('etcd', { containerID: 'new' })),
    told: ['etcd-n1/etcd container: c0 -> new'],
  },
  {
    title: 'a container that is not known',
    change: withPod(withStatus('etcd', { containerID: undefined })),
    told: ['etcd-n1/etcd container: c0 -> none'],
  },
  {
    title: 'another generation',
    change: withPod({ ...etcd, metadata: { ...etcd.metadata, generation: 2 } }),
    told: ['etcd-n1 generation: 0 -> 2'],
  },
  {
    title: 'another node of this name',
    change: { node: { ...node(), metadata: { name: 'n1', uid: 'v' } } },
    told: ['node: u -> v'],
  },
  {
    title: 'a node without an identity',
    change: { node: { ...node(), metadata: { name: 'n1' } } },
    told: ['node: u -> none'],
  },
  {
    title: 'a restart',
    change: withPod(pod('etcd', { restarts: 1 })),
    told: ['etcd-n1/etcd restarts: 0 -> 1', 'etcd-n1/etcd container: c0 -> c1'],
  },
  {
    title: 'another manifest',
    change: withPod(pod('etcd', { hash: 'h2' })),
    told: ['etcd-n1 manifest: h -> h2'],
  },
  {
    title: 'a manifest without a hash',
    change: withPod(unnamed),
    told: ['etcd-n1 manifest: h -> none'],
  },
  {
    title: 'another leader',
    change: { leases: [lease({ holder: 'n1_b' })] },
    told: ['lease kube-scheduler holder: n1_a -> n1_b'],
  },
  {
    title: 'one more static pod',
    change: { pods: [pod('etcd'), pod('kube-apiserver'), pod('extra')] },
    told: [
      'extra-n1 manifest: none -> h',
      'extra-n1 generation: none -> 0',
      'extra-n1/extra restarts: none -> 0',
      'extra-n1/extra container: none -> c0',
    ],
  },
];

t.test('a change is reported and restarts the window', async (t) => {
  for (const { title, change, told } of changes) {
    const state = settle(seen(10), seen(30, change));
    t.same(state.unsettled, [], title);
    t.same(state.changes, told, `${title}: told`);
    t.same(state.since, at(30), `${title}: window`);
  }
});

t.test('a deletion is a change too, and reported with what is unsettled', async (t) => {
  const pods = [pod('kube-apiserver')];
  const leases = [{ metadata: { name: 'kube-scheduler' }, spec: {} }];
  const state = settle(seen(10), seen(30, { pods, leases }));
  t.same(state.changes, [
    'etcd-n1 manifest: h -> none',
    'etcd-n1 generation: 0 -> none',
    'etcd-n1/etcd restarts: 0 -> none',
    'etcd-n1/etcd container: c0 -> none',
    'lease kube-scheduler holder: n1_a -> none',
  ]);
  t.same(state.unsettled, ['pod etcd-n1 does not exist', 'lease kube-scheduler has no holder']);
});

t.test('objects read one by one at the start are not changes', async (t) => {
  const state = settle(seen(1, { pods: undefined }), seen(2, { leases: undefined }), seen(3));
  t.same(state.changes, []);
  t.same(state.since, at(3));
});

t.test('pods that are not static pods of this node do not matter', async (t) => {
  const other: Pod = { metadata: { name: 'coredns-n1' }, status: { phase: 'Pending' } };
  const state = settle(seen(1, { pods: [pod('etcd'), pod('kube-apiserver'), other] }));
  t.same(state.unsettled, []);
});
