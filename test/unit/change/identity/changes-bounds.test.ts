/** What a change of identity leaves alone, and objects that have only some of what others have. */
import t from 'tap';
import { lostPods } from '../../../../lib/change/identity/changes.ts';
import {
  brief,
  changes,
  controlled,
  from,
  moved,
  node,
  pod,
  renamed,
  volume,
} from './cluster-objects.ts';

t.test('a Node that has the new name already is not created again', async (t) => {
  t.strictSame(brief(changes({ nodes: [node('edge-0'), node('edge-9')] })), [
    'delete nodes edge-0',
  ]);
});

t.test('a Node without anything to take over is created all the same', async (t) => {
  const [created] = changes({ nodes: [node('edge-0')] });
  t.strictSame(created?.do === 'create' && JSON.parse(JSON.stringify(created.body)), {
    ...{ apiVersion: 'v1', kind: 'Node' },
    metadata: { name: 'edge-9', labels: { 'kubernetes.io/hostname': 'edge-9' }, annotations: {} },
    spec: { taints: [] },
    status: {},
  });
});

t.test('only what no kubelet can end is rid of its finalizers', async (t) => {
  const all = changes({
    nodes: [node('edge-0')],
    pods: [pod('web', 'edge-0')],
    volumes: [volume('pv-1', ['edge-0'])],
    attachments: [{ metadata: { name: 'a', uid: 'uid of a' }, spec: { nodeName: 'edge-0' } }],
    csiNodes: [{ metadata: { name: 'edge-0', uid: 'uid of edge-0' } }],
  });
  const deleted = all.flatMap((change) => (change.do === 'delete' ? [change] : []));
  t.strictSame(
    deleted.map(({ resource, uid, dropsFinalizers }) => [resource.plural, uid, dropsFinalizers]),
    [
      ['persistentvolumes', 'uid of pv-1', true],
      ['pods', 'uid of web', undefined],
      ['volumeattachments', 'uid of a', true],
      ['csinodes', 'uid of edge-0', undefined],
      ['nodes', 'uid of edge-0', undefined],
    ],
  );
});

t.test('of a volume for several Nodes, this one alone gets another name', async (t) => {
  const shared = volume('pv-1', ['worker-0', 'edge-0']);
  const terms = [
    { matchExpressions: [{ key: 'zone', operator: 'Exists' }], matchFields: [{ key: 'kept' }] },
    { matchFields: [{ key: 'alone' }] },
  ];
  const nodes = (values: string[]) => ({
    matchExpressions: [
      { key: 'zone', operator: 'Exists' },
      { key: 'kubernetes.io/hostname', operator: 'In', values },
    ],
  });
  const tied = [...terms, nodes(['worker-0', 'edge-0'])];
  shared.spec.nodeAffinity = { required: { nodeSelectorTerms: tied } };
  const [, created] = changes({ volumes: [shared] });
  t.match(created, { do: 'create', name: 'pv-1' });
  const body = created?.do === 'create' && JSON.parse(JSON.stringify(created.body));
  t.strictSame(body.spec.nodeAffinity.required.nodeSelectorTerms, [
    ...terms,
    nodes(['worker-0', 'edge-9']),
  ]);
  t.strictSame(
    brief(changes({ volumes: [volume('pv-2', ['worker-0', 'worker-1'])] })),
    [],
    'for other Nodes',
  );
});

t.test('with another address, pods that are of another Node, ended or silent', async (t) => {
  const onHost = { hostNetwork: true };
  const { status: _, ...silent } = pod('silent', 'edge-0', controlled, onHost);
  const pods = [
    pod('other', 'worker-0', controlled, onHost),
    pod('ended', 'edge-0', { ...controlled, deletionGracePeriodSeconds: 0 }, onHost),
    silent,
    { ...silent, metadata: { ...silent.metadata, name: 'starting' }, status: {} },
    { ...silent, metadata: { ...silent.metadata, name: 'unknown' }, status: null },
  ];
  t.strictSame(brief(changes({ pods }, moved)), [
    'delete pods shop silent',
    'delete pods shop starting',
    'delete pods shop unknown',
  ]);
});

t.test('a namespace without any CA gets one, and a claim without annotations none', async (t) => {
  t.strictSame(
    brief(changes({ rootCas: [{ metadata: { name: 'kube-root-ca.crt', namespace: 'new' } }] })),
    ['patch configmaps new kube-root-ca.crt'],
  );
  const claims = [
    { metadata: { name: 'free', namespace: 'shop' }, spec: {} },
    {
      metadata: {
        ...{ name: 'unbound', namespace: 'shop' },
        annotations: { 'volume.kubernetes.io/selected-node': 'edge-0' },
      },
      spec: { volumeName: '' },
    },
  ];
  t.strictSame(brief(changes({ claims })), ['patch persistentvolumeclaims shop unbound']);
});

t.test(
  'a pod that has ended is not lost, nor one with a controller among its owners',
  async (t) => {
    const pods = [
      pod('ended', 'edge-0', { deletionGracePeriodSeconds: 0 }),
      pod('owned', 'edge-0', { ownerReferences: [{ controller: false }, { controller: true }] }),
      pod('used', 'edge-0', { ownerReferences: [{ controller: false }] }),
    ];
    t.strictSame(
      lostPods({ from, to: renamed }, pods).map(({ metadata }) => metadata.name),
      ['used'],
    );
  },
);
