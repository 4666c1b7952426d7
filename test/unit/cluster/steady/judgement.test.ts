import t from 'tap';
import { resources } from '../../../../lib/clients/kube/resources.ts';
import { judgeLeases, judgeNode } from '../../../../lib/cluster/steady/control-plane.ts';
import { judgePods, ownPods, type PlacedPod } from '../../../../lib/cluster/steady/pods.ts';
import { judgeRequests } from '../../../../lib/cluster/steady/requests.ts';
import {
  daemonSets,
  deployments,
  judgeDaemonSets,
  judgeDeployments,
  judgeStatefulSets,
  statefulSets,
} from '../../../../lib/cluster/steady/workloads.ts';
import { AFTER, around, BEFORE, found } from './around.ts';

t.test('a node', async (t) => {
  const node = (ready: string, heartbeat: string, more: object = {}) => [
    {
      metadata: { name: 'n1', uid: 'u', ...more },
      status: { conditions: [{ type: 'Ready', status: ready, lastHeartbeatTime: heartbeat }] },
    },
  ];
  const machineConfig = (current: string, desired: string, state: string) => ({
    annotations: {
      'machineconfiguration.openshift.io/currentConfig': current,
      'machineconfiguration.openshift.io/desiredConfig': desired,
      'machineconfiguration.openshift.io/state': state,
    },
  });
  const judge = (nodes: Parameters<typeof judgeNode>[0]) => found(judgeNode(nodes, 'n1', around()));
  t.same(judge(node('True', AFTER)), []);
  t.same(judge(node('True', AFTER, machineConfig('a', 'a', 'Done'))), []);
  t.match(judge(node('True', BEFORE)), [/^unknown: Node n1 .*before this boot/]);
  t.match(judge(node('False', AFTER)), [/^moving: Node n1 .*not Ready/]);
  t.match(judge([]), [/^moving: Node n1 .*not registered/]);
  t.match(judge(node('True', AFTER, machineConfig('a', 'b', 'Done'))), [
    /^moving: Node n1 changes from a to b \(by the machine-config operator\)/,
  ]);
  t.match(judge(node('True', AFTER, machineConfig('a', 'a', 'Degraded'))), [
    /^moving: Node n1 has the state Degraded/,
  ]);
  const [ready] = node('True', AFTER);
  t.match(judge(ready === undefined ? [] : [{ ...ready, spec: { unschedulable: true } }]), [
    /^moving: Node n1 is cordoned/,
  ]);
});

t.test('a Lease', async (t) => {
  const lease = (acquired: string, renewed: string) => [
    {
      metadata: { name: 'kube-scheduler' },
      spec: {
        holderIdentity: 'n1_a',
        acquireTime: acquired,
        renewTime: renewed,
        leaseDurationSeconds: 15,
      },
    },
  ];
  const judge = (leases: ReturnType<typeof lease>) =>
    found(judgeLeases(leases, ['kube-scheduler'], around()));
  t.same(judge(lease(AFTER, '2030-01-01T00:01:59Z')), []);
  t.match(judge(lease(BEFORE, '2030-01-01T00:01:59Z')), [/^unknown: Lease .*before this boot/]);
  t.match(judge(lease(AFTER, AFTER)), [/^moving: Lease .*not renewed/]);
  t.match(judge([]), [/^moving: Lease .*not held/]);
});

t.test('pods', async (t) => {
  const pod = (change: {
    phase?: string;
    ready?: string;
    startedAt?: string;
    nodeName?: string | undefined;
    metadata?: object;
    waiting?: string;
  }): PlacedPod => ({
    metadata: { name: 'web', namespace: 'shop', uid: 'u', ...change.metadata },
    spec: 'nodeName' in change ? { nodeName: change.nodeName } : { nodeName: 'n1' },
    status: {
      phase: change.phase ?? 'Running',
      conditions: [{ type: 'Ready', status: change.ready ?? 'True' }],
      containerStatuses: [
        {
          name: 'main',
          restartCount: 0,
          containerID: 'c0',
          state:
            change.waiting === undefined
              ? { running: { startedAt: change.startedAt ?? AFTER } }
              : { waiting: { reason: change.waiting } },
        },
      ],
    },
  });
  const ofJob = { ownerReferences: [{ kind: 'Job', name: 'nightly' }] };
  const cases: [title: string, pod: PlacedPod, expected: RegExp[]][] = [
    ['running', pod({}), []],
    ['of another node', pod({ ready: 'False', nodeName: 'n2' }), []],
    ['of a Job', pod({ ready: 'False', metadata: ofJob }), []],
    ['that has ended', pod({ phase: 'Succeeded', ready: 'False' }), []],
    ['that has failed', pod({ phase: 'Failed', ready: 'False' }), []],
    [
      'from before the boot',
      pod({ startedAt: BEFORE }),
      [/^unknown: Pod shop\/web .*before this boot/],
    ],
    ['not ready', pod({ ready: 'False' }), [/^moving: Pod shop\/web is not ready$/]],
    ['crashing', pod({ ready: 'False', waiting: 'CrashLoopBackOff' }), [/CrashLoopBackOff/]],
    ['without a node', pod({ phase: 'Pending', nodeName: undefined }), [/has no node yet/]],
    [
      'being deleted',
      pod({
        metadata: {
          deletionTimestamp: AFTER,
          ownerReferences: [{ kind: 'ReplicaSet', name: 'web-1' }],
        },
      }),
      [/is being deleted \(of ReplicaSet web-1\)/],
    ],
  ];
  for (const [title, each, expected] of cases) {
    t.match(found(judgePods(ownPods([each], 'n1'), around())), expected, title);
    t.equal(judgePods(ownPods([each], 'n1'), around()).findings.length, expected.length, title);
  }
  const facts = (each: PlacedPod) => new Map(judgePods([each], around()).facts);
  const mirrored = (hash: string, uid: string) =>
    pod({ metadata: { uid, annotations: { 'kubernetes.io/config.hash': hash } } });
  t.same(facts(mirrored('h', 'a')), facts(mirrored('h', 'b')), 'a mirror pod that was made again');
  t.notSame(facts(mirrored('h', 'a')), facts(mirrored('i', 'a')), 'another manifest');
  t.notSame(facts(pod({})), facts(pod({ metadata: { uid: 'other' } })), 'another pod');
});

t.test('workloads', async (t) => {
  const metadata = {
    name: 'web',
    namespace: 'shop',
    generation: 4,
    managedFields: [
      { manager: 'kubectl-edit', time: AFTER },
      { manager: 'helm', time: BEFORE },
      { manager: 'kube-controller-manager', time: '2030-01-01T00:01:30Z', subresource: 'status' },
    ],
  };
  const by = 'last changed by kubectl-edit at 2030-01-01T00:01:00Z';
  const deployment = (spec: object, status: object) =>
    found(
      judgeDeployments([
        deployments.schema.parse({ metadata, spec, status: { observedGeneration: 4, ...status } }),
      ]),
    );
  const two = { replicas: 2 };
  t.same(deployment(two, { replicas: 2, updatedReplicas: 2, availableReplicas: 2 }), []);
  t.same(deployment({ replicas: 0 }, {}), [], 'scaled to nothing');
  t.same(
    deployment({ ...two, paused: true }, { replicas: 2, updatedReplicas: 0, availableReplicas: 2 }),
    [],
    'paused by a person',
  );
  t.same(deployment(two, { replicas: 3, updatedReplicas: 1, availableReplicas: 2 }), [
    `moving: Deployment shop/web has updated 1 of 2 replicas (${by})`,
  ]);
  t.match(deployment(two, { replicas: 3, updatedReplicas: 2, availableReplicas: 3 }), [
    /3 replicas/,
  ]);
  t.match(deployment(two, { replicas: 2, updatedReplicas: 2 }), [/0 of 2 replicas available/]);
  t.match(
    deployment(two, {
      observedGeneration: 3,
      replicas: 2,
      updatedReplicas: 2,
      availableReplicas: 2,
    }),
    [/generation 4, and its controller has seen 3/],
  );
  t.match(deployment({}, {}), [/updated 0 of 1/], 'one replica is the default');

  const statefulSet = (spec: object, status: object) =>
    found(
      judgeStatefulSets([
        statefulSets.schema.parse({
          metadata,
          spec: { replicas: 2, ...spec },
          status: { observedGeneration: 4, replicas: 2, readyReplicas: 2, ...status },
        }),
      ]),
    );
  const revisions = { currentRevision: 'a', updateRevision: 'b' };
  t.same(statefulSet({}, { currentRevision: 'a', updateRevision: 'a' }), []);
  t.match(statefulSet({}, revisions), [/being updated to revision b/]);
  t.same(statefulSet({ updateStrategy: { type: 'OnDelete' } }, revisions), []);
  t.match(statefulSet({}, { readyReplicas: 1 }), [/1 of 2 replicas ready/]);
  t.match(statefulSet({}, { replicas: 1 }), [/1 replicas instead of 2/]);

  const daemonSet = (spec: object, status: object) =>
    found(
      judgeDaemonSets([
        daemonSets.schema.parse({
          metadata,
          spec,
          status: {
            observedGeneration: 4,
            desiredNumberScheduled: 1,
            updatedNumberScheduled: 1,
            numberAvailable: 1,
            ...status,
          },
        }),
      ]),
    );
  t.same(daemonSet({}, {}), []);
  t.match(daemonSet({}, { numberAvailable: 0 }), [/0 of 1 pods available/]);
  t.match(daemonSet({}, { updatedNumberScheduled: 0 }), [/updated 0 of 1/]);
  t.same(daemonSet({ updateStrategy: { type: 'OnDelete' } }, { updatedNumberScheduled: 0 }), []);
  t.match(daemonSet({}, { numberMisscheduled: 1 }), [/1 pods where none belong/]);
});

t.test('certificates that the kubelet waits for', async (t) => {
  const request = (username: string, status: object) =>
    resources.certificateSigningRequests.schema.parse({
      metadata: { name: 'csr-1' },
      spec: { request: '', signerName: 'kubernetes.io/kubelet-serving', username },
      status,
    });
  const decided = (type: string) => ({ conditions: [{ type, status: 'True' }] });
  const judge = (username: string, status: object) =>
    found(judgeRequests([request(username, status)], 'n1'));
  t.match(judge('system:node:n1', {}), [/^moving: .*not decided yet \(of this host's kubelet\)/]);
  t.match(judge('system:node:n1', decided('Approved')), [/is not signed yet/]);
  t.same(judge('system:node:n1', { ...decided('Approved'), certificate: 'eA==' }), []);
  t.same(judge('system:node:n1', decided('Denied')), []);
  t.same(judge('system:node:n2', {}), []);
});
