import t from 'tap';
import {
  operatorResource,
  staticPodOperators,
} from '../../../../lib/cluster/openshift/operators.ts';
import {
  judgeClusterOperators,
  judgeClusterVersions,
  judgePools,
  judgeRevisions,
} from '../../../../lib/cluster/steady/openshift.ts';
import { judgeProfiles } from '../../../../lib/cluster/steady/planned-restart.ts';
import { around, conditions, found } from './around.ts';

t.test("OpenShift's operators", async (t) => {
  const steady = { Available: 'True', Progressing: 'False' };
  const version = (change: object = {}, states: Record<string, string> = steady) => [
    {
      metadata: { name: 'version', generation: 2 },
      status: {
        observedGeneration: 2,
        history: [{ state: 'Completed', version: '4.21.0' }],
        conditions: conditions(states),
        ...change,
      },
    },
  ];
  const cvo = 'openshift-cluster-version';
  const judgeVersion = (all: ReturnType<typeof version>, ...running: string[]) =>
    found(judgeClusterVersions(all, around(...running)));
  t.same(judgeVersion(version(), cvo), []);
  t.match(
    judgeVersion(version()),
    [/^unknown: ClusterVersion version .*before this boot/],
    'planted',
  );
  t.match(judgeVersion(version({ observedGeneration: 1 }), cvo), [/generation 2/]);
  t.match(judgeVersion(version({ history: [{ state: 'Partial', version: '4.21.1' }] }), cvo), [
    /is at 4.21.1: Partial/,
  ]);
  t.match(judgeVersion(version({ history: [] }), cvo), [/no history/]);
  t.match(judgeVersion(version({}, { ...steady, Failing: 'True' }), cvo), [/Failing True/]);
  t.match(judgeVersion(version({}, { Available: 'True' }), cvo), [/no condition Progressing/]);

  const operator = (states: Record<string, string>, namespaces = ['openshift-dns-operator']) => [
    {
      metadata: { name: 'dns' },
      status: {
        conditions: conditions(states),
        relatedObjects: namespaces.map((name) => ({ resource: 'namespaces', name })),
      },
    },
  ];
  const fine = { ...steady, Degraded: 'False' };
  const judgeOperator = (all: ReturnType<typeof operator>, ...running: string[]) =>
    found(judgeClusterOperators(all, around(...running)));
  t.same(judgeOperator(operator(fine), 'openshift-dns-operator'), []);
  t.match(judgeOperator(operator(fine), 'openshift-dns'), [/^unknown: ClusterOperator dns/]);
  t.match(judgeOperator(operator(fine, []), 'openshift-dns'), [
    /^unknown: .*any namespace it names/,
  ]);
  for (const [type, status] of Object.entries({
    Available: 'False',
    Progressing: 'True',
    Degraded: 'Unknown',
  })) {
    t.match(judgeOperator(operator({ ...fine, [type]: status }), 'openshift-dns-operator'), [
      new RegExp(`^moving: ClusterOperator dns has ${type} ${status}: ${type} says so`),
    ]);
  }

  const pool = (states: Record<string, string>, has: string) => [
    {
      metadata: { name: 'master', generation: 1 },
      spec: { configuration: { name: 'rendered-b' } },
      status: {
        observedGeneration: 1,
        configuration: { name: has },
        conditions: conditions(states),
      },
    },
  ];
  const updated = { Updated: 'True', Updating: 'False', Degraded: 'False' };
  const mco = around('openshift-machine-config-operator');
  t.same(found(judgePools(pool(updated, 'rendered-b'), mco)), []);
  t.match(found(judgePools(pool(updated, 'rendered-a'), mco)), [
    /changes from rendered-a to rendered-b/,
  ]);
  t.match(found(judgePools(pool({ ...updated, Updating: 'True' }, 'rendered-b'), mco)), [
    /Updating/,
  ]);
  t.match(found(judgePools(pool(updated, 'rendered-b'), around())), [/^unknown/]);

  const etcds = staticPodOperators.find(({ kind }) => kind === 'Etcd');
  if (etcds === undefined) throw new Error('there is an operator of etcd');
  const revisions = (newest: number, nodes: object[] | undefined) => [
    operatorResource(etcds).schema.parse({
      metadata: { name: 'cluster', generation: 1 },
      status: { observedGeneration: 1, latestAvailableRevision: newest, nodeStatuses: nodes },
    }),
  ];
  const etcd = around('openshift-etcd-operator');
  const at = (currentRevision: number, targetRevision: number) => [
    { nodeName: 'n1', currentRevision, targetRevision },
  ];
  const judgeEtcd = (newest: number, nodes: object[] | undefined) =>
    found(judgeRevisions(etcds)(revisions(newest, nodes), etcd));
  t.same(judgeEtcd(3, at(3, 0)), []);
  t.same(judgeEtcd(3, at(3, 3)), [], 'the target is reached');
  t.match(judgeEtcd(4, at(3, 4)), [/^moving: Etcd cluster installs revision 4 on n1, which has 3/]);
  t.match(judgeEtcd(4, at(3, 0)), [/has revision 4, and n1 has 3/]);
  t.match(judgeEtcd(4, []), [/no revision on any node/]);
  t.match(judgeEtcd(4, undefined), [/no revision on any node/]);

  const profile = (states: Record<string, string>) => [
    { metadata: { name: 'n1' }, status: { conditions: conditions(states) } },
  ];
  t.same(found(judgeProfiles(profile({ Applied: 'True' }))), []);
  t.match(found(judgeProfiles(profile({ Applied: 'False' }))), [/not applied.*by tuned/]);
  t.match(found(judgeProfiles(profile({}))), [/no condition Applied/]);
});
