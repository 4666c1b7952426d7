import t from 'tap';
import { leftMs } from '../../../../lib/base/wait/unchanged.ts';
import { type Observation, observe } from '../../../../lib/clients/kube/steady-state.ts';
import {
  afterBoot,
  at,
  available,
  away,
  beforeBoot,
  etcd,
  node,
  other,
  pod,
  required,
  seen,
  settle,
  withEtcd,
  withPod,
  withSpec,
} from './control-plane-objects.ts';

const UNREAD = 'not all objects have been listed yet';

const unsettled: { title: string; change: Partial<Observation>; reasons: string[] }[] = [
  { title: 'no node', change: { node: undefined }, reasons: ['the node is not registered'] },
  {
    title: "yesterday's heartbeat",
    change: { node: node(beforeBoot) },
    reasons: ['the last heartbeat of node n1 is from before this boot'],
  },
  {
    title: 'node not Ready',
    change: { node: node(afterBoot, 'False') },
    reasons: ['node n1 is not Ready: False'],
  },
  { title: 'pods not read yet', change: { pods: undefined }, reasons: [UNREAD] },
  { title: 'leases not read yet', change: { leases: undefined }, reasons: [UNREAD] },
  { title: 'API services not read yet', change: { apiServices: undefined }, reasons: [UNREAD] },
  {
    title: 'an API that cannot be watched before all is read',
    change: { pods: undefined, apiProblem: 'refused' },
    reasons: ['refused'],
  },
  {
    title: 'a component is missing',
    change: { pods: [pod('etcd'), away('kube-apiserver')] },
    reasons: ['pod kube-apiserver-n1 does not exist'],
  },
  {
    title: 'a pod is pending',
    change: withPod(pod('etcd', { phase: 'Pending' })),
    reasons: ['pod etcd-n1 is Pending'],
  },
  {
    title: 'a pod without a status',
    change: withPod({ metadata: etcd.metadata }),
    reasons: ['pod etcd-n1 is not started'],
  },
  {
    title: 'a pod is not ready',
    change: withPod(pod('etcd', { ready: 'False' })),
    reasons: ['pod etcd-n1 is not ready'],
  },
  {
    title: 'a pod whose other conditions are True',
    change: withEtcd({ conditions: [{ type: 'Initialized', status: 'True' }] }),
    reasons: ['pod etcd-n1 is not ready'],
  },
  {
    title: 'a pod without conditions',
    change: withEtcd({ conditions: undefined }),
    reasons: ['pod etcd-n1 is not ready'],
  },
  {
    title: 'a container of the last boot',
    change: withPod(pod('etcd', { startedAt: beforeBoot })),
    reasons: ['container etcd of etcd-n1 has not started since this boot'],
  },
  {
    title: 'one container of two that does not run',
    change: withEtcd({
      containerStatuses: [
        ...(etcd.status?.containerStatuses ?? []),
        { name: 'second', restartCount: 0, state: {} },
      ],
    }),
    reasons: ['container second of etcd-n1 has not started since this boot'],
  },
  {
    title: 'a pod that is being deleted',
    change: withPod(pod('etcd', { deletionTimestamp: afterBoot })),
    reasons: ['pod etcd-n1 is being deleted'],
  },
  {
    title: 'another static pod that does not run',
    change: { pods: [pod('etcd'), pod('kube-apiserver'), pod('extra', { phase: 'Failed' })] },
    reasons: ['pod extra-n1 is Failed'],
  },
  { title: 'no lease', change: { leases: [other] }, reasons: ['lease kube-scheduler is not held'] },
  {
    title: 'a lease without a holder',
    change: withSpec({ holderIdentity: '' }),
    reasons: ['lease kube-scheduler has no holder'],
  },
  {
    title: 'a lease of the last boot',
    change: withSpec({ acquireTime: beforeBoot }),
    reasons: ['lease kube-scheduler was acquired before this boot'],
  },
  ...[{ renewTime: afterBoot }, { renewTime: null }, { renewTime: undefined }].map((spec) => ({
    title: `a lease renewed at ${spec.renewTime}`,
    change: withSpec(spec),
    reasons: ['lease kube-scheduler was not renewed in time'],
  })),
  {
    title: 'a lease without a duration, renewed half a second ago',
    change: withSpec({ leaseDurationSeconds: null, renewTime: '2030-01-01T00:01:00Z' }),
    reasons: ['lease kube-scheduler was not renewed in time'],
  },
  {
    title: 'an API service',
    change: { apiServices: [available(), available('False')] },
    reasons: ['API service v1.apps is not available: why'],
  },
  ...[undefined, { conditions: null }, { conditions: [{ type: 'Other', status: 'True' }] }].map(
    (status) => ({
      title: `an API service with status ${JSON.stringify(status)}`,
      change: { apiServices: [{ metadata: { name: 'v1.x' }, status }] },
      reasons: ['API service v1.x is not available: no condition'],
    }),
  ),
  {
    title: 'the API',
    change: { apiProblem: 'etcd fails', node: undefined },
    reasons: ['etcd fails'],
  },
  {
    title: 'several things',
    change: { pods: [], leases: [] },
    reasons: [
      'pod etcd-n1 does not exist',
      'pod kube-apiserver-n1 does not exist',
      'lease kube-scheduler is not held',
    ],
  },
];

t.test('anything unsettled restarts the window', async (t) => {
  for (const { title, change, reasons } of unsettled) {
    const before = settle(seen(10));
    const state = observe(before, seen(60, change), required);
    t.same(state.unsettled, reasons, title);
    t.notHas(state, { since: Date }, `${title}: no window`);
    t.equal(leftMs(state, at(60), required.settlingWindowMs), undefined, title);
    t.same(observe(state, seen(61), required).since, at(61), `${title}: begins again`);
    if (reasons[0] === UNREAD) {
      t.same(state, { facts: before.facts, unsettled: [UNREAD], changes: [] });
    }
  }
});

t.test('a node is Ready if a condition from this boot says True', async (t) => {
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
