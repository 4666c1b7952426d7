import t from 'tap';
import {
  revisionCounts,
  revisionsIn,
  withRevisions,
} from '../../../../lib/cluster/openshift/revisions.ts';
import { revisionStatus } from './states.ts';

t.test('revisions are those whose record is complete, in the order of their numbers', async (t) => {
  const found = revisionsIn('etcd', [
    revisionStatus(
      10,
      'required secret/etcd-all-certs has changed,required configmap/etcd-pod has changed',
    ),
    revisionStatus(2, ''),
    revisionStatus(1, 'configmaps "etcd-pod-0" not found'),
    revisionStatus(3, 'is being copied', 'false'),
    { metadata: { name: 'etcd-pod-1' }, data: { revision: '1' } },
    { metadata: { name: 'revision-status-4' }, data: { revision: '4' } },
  ]);
  t.same(found, [
    { component: 'etcd', revision: 1, reason: "the operator's first" },
    { component: 'etcd', revision: 2, reason: 'no reason given' },
    {
      component: 'etcd',
      revision: 10,
      reason: 'required secret/etcd-all-certs has changed, required configmap/etcd-pod has changed',
    },
  ]);
});

t.test('a revision is fresh once, also if its record is pruned meanwhile', async (t) => {
  const first = { component: 'etcd', revision: 1, reason: 'a' };
  const second = { component: 'etcd', revision: 2, reason: 'b' };
  const other = { component: 'kube-apiserver', revision: 1, reason: 'c' };
  const { all, fresh } = withRevisions([first], [second, other]);
  t.same(fresh, [second, other]);
  t.same(all, [first, second, other]);
  t.same(withRevisions(all, [second]).fresh, []);
  t.equal(revisionCounts(all), 'etcd 2, kube-apiserver 1');
  t.equal(revisionCounts(all.toReversed()), 'etcd 2, kube-apiserver 1');
});
