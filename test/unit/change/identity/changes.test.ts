import t from 'tap';
import { lostPods } from '../../../../lib/change/identity/changes.ts';
import type { Identity } from '../../../../lib/change/identity/identity.ts';
import {
  brief,
  CA,
  changes,
  controlled,
  from,
  moved,
  node,
  pod,
  renamed,
  volume,
} from './cluster-objects.ts';

const T = '2030-01-01T00:00:00Z';

t.test('the Node gets its new name with all that it was given', async (t) => {
  const old = node('edge-0', {
    metadata: {
      name: 'edge-0',
      uid: 'uid of edge-0',
      labels: {
        'kubernetes.io/hostname': 'edge-0',
        zone: 'a',
        'node-role.kubernetes.io/control-plane': '',
      },
      annotations: { note: 'keep', 'csi.volume.kubernetes.io/nodeid': '{"x":"edge-0"}' },
    },
    spec: {
      podCIDR: '10.128.0.0/24',
      podCIDRs: ['10.128.0.0/24'],
      unschedulable: true,
      providerID: 'a://edge-0',
      taints: [
        { key: 'dedicated', effect: 'NoSchedule', value: 'x' },
        { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' },
        { key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' },
        { key: 'node.kubernetes.io/disk-pressure', effect: 'NoSchedule' },
      ],
    },
    status: {
      capacity: { pods: '110' },
      allocatable: { pods: '100' },
      conditions: [{ type: 'Ready' }],
      addresses: [{ type: 'InternalIP', address: '192.0.2.10' }],
    },
  });
  const all = changes({ nodes: [old, node('worker-0')] });
  t.strictSame(brief(all), ['create nodes edge-9', 'delete nodes edge-0']);
  const [created] = all;
  const body = created?.do === 'create' ? JSON.stringify(created.body) : '{}';
  t.strictSame(JSON.parse(body), {
    ...{ apiVersion: 'v1', kind: 'Node' },
    metadata: {
      name: 'edge-9',
      labels: {
        'kubernetes.io/hostname': 'edge-9',
        zone: 'a',
        'node-role.kubernetes.io/control-plane': '',
      },
      annotations: { note: 'keep' },
    },
    spec: {
      ...{ podCIDR: '10.128.0.0/24', podCIDRs: ['10.128.0.0/24'], unschedulable: true },
      providerID: 'a://edge-0',
      taints: [
        { key: 'dedicated', effect: 'NoSchedule', value: 'x' },
        { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' },
      ],
    },
    // What the kubelet admits pods by, and nothing that has to be new.
    status: { capacity: { pods: '110' }, allocatable: { pods: '100' } },
  });
  t.notMatch(body, /uid/);
  t.match(all[1], { uid: 'uid of edge-0' }, 'only that one');
});

t.test('what belongs to the old Node ends with it, and nothing of others', async (t) => {
  const named = (name: string) => ({ metadata: { name, uid: 'u' } });
  const attached = (name: string, nodeName: string) => ({ ...named(name), spec: { nodeName } });
  const all = changes({
    nodes: [node('edge-0'), node('worker-0')],
    pods: [
      pod('web', 'edge-0', controlled),
      pod('ending', 'edge-0', { deletionTimestamp: T, deletionGracePeriodSeconds: 30 }),
      pod('finalized', 'edge-0', { deletionTimestamp: T, deletionGracePeriodSeconds: 0 }),
      pod('other', 'worker-0'),
      pod('pending', ''),
    ],
    attachments: [attached('a', 'edge-0'), attached('b', 'worker-0')],
    csiNodes: [named('edge-0'), named('worker-0')],
    leases: [named('edge-0'), named('worker-0')],
  });
  t.strictSame(brief(all), [
    'create nodes edge-9',
    'delete pods shop web',
    'delete pods shop ending',
    'delete volumeattachments a',
    'delete csinodes edge-0',
    'delete leases edge-0',
    'delete nodes edge-0',
  ]);
});

t.test('a volume of the Node is created again, with its claim and its policy', async (t) => {
  const mine = volume('pv-1', ['edge-0'], {
    labels: { a: 'b' },
    annotations: { 'pv.kubernetes.io/provisioned-by': 'x' },
  });
  const all = changes({
    volumes: [
      mine,
      volume('pv-2', ['worker-0']),
      volume('ending', ['edge-0'], { deletionTimestamp: T }),
      { metadata: { name: 'nfs' }, spec: {} },
    ],
  });
  t.strictSame(brief(all), ['delete persistentvolumes pv-1', 'create persistentvolumes pv-1']);
  t.match(all[0], { uid: 'uid of pv-1', dropsFinalizers: true });
  const { status: _status, ...expected } = volume('pv-1', ['edge-9']);
  t.strictSame(all[1]?.do === 'create' && JSON.parse(JSON.stringify(all[1].body)), {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: {
      name: 'pv-1',
      labels: { a: 'b' },
      annotations: { 'pv.kubernetes.io/provisioned-by': 'x' },
      finalizers: ['kubernetes.io/pv-protection'],
    },
    spec: expected.spec,
  });
  t.strictSame(
    brief(changes({ volumes: [] }, renamed, [mine])),
    ['create persistentvolumes pv-1'],
    'one that an interrupted run has deleted',
  );
  t.strictSame(brief(changes({ volumes: [volume('pv-1', ['edge-9'])] }, renamed, [mine])), []);
});

t.test('a claim without a volume is scheduled anew', async (t) => {
  const claim = (name: string, on: string, volumeName?: string) => ({
    metadata: {
      name,
      namespace: 'shop',
      annotations: { 'volume.kubernetes.io/selected-node': on },
    },
    spec: { ...(volumeName === undefined ? {} : { volumeName }) },
  });
  const all = changes({
    claims: [
      claim('waits', 'edge-0'),
      claim('bound', 'edge-0', 'pv-1'),
      claim('other', 'worker-0'),
    ],
  });
  t.strictSame(brief(all), ['patch persistentvolumeclaims shop waits']);
  const body = { metadata: { annotations: { 'volume.kubernetes.io/selected-node': null } } };
  t.match(all[0], { body });
});

t.test(
  'with another address, only pods in the network of the host are created again',
  async (t) => {
    const onHost = { hostNetwork: true };
    const all = changes(
      {
        nodes: [node('edge-0')],
        leases: [{ metadata: { name: 'edge-0' } }],
        volumes: [volume('pv-1', ['edge-0'])],
        pods: [
          pod('web', 'edge-0', controlled),
          pod('proxy', 'edge-0', controlled, onHost),
          { ...pod('again', 'edge-0', controlled, onHost), status: { hostIP: '192.0.2.77' } },
        ],
      },
      moved,
    );
    t.strictSame(brief(all), ['delete pods shop proxy']);
    t.strictSame(
      brief(
        changes(
          { pods: [pod('proxy', 'edge-0', controlled, onHost)] },
          { ...from, baseDomain: 'x.y' },
        ),
      ),
      [],
      'none with another domain',
    );
  },
);

t.test('every namespace trusts the present CA', async (t) => {
  const map = (namespace: string, pem: string) => ({
    metadata: { name: 'kube-root-ca.crt', namespace },
    data: { 'ca.crt': pem },
  });
  const all = changes({ rootCas: [map('shop', 'another'), map('default', CA)] }, moved);
  t.strictSame(brief(all), ['patch configmaps shop kube-root-ca.crt']);
  t.match(all[0], { body: { data: { 'ca.crt': CA } } });
});

t.test('pods that nothing creates again', async (t) => {
  const pods = [
    pod('web', 'edge-0', controlled),
    pod('bare', 'edge-0'),
    pod('mirror', 'edge-0', { annotations: { 'kubernetes.io/config.mirror': 'x' } }),
    pod('owned', 'edge-0', { ownerReferences: [{}] }),
    pod('other', 'worker-0'),
    pod('host', 'edge-0', {}, { hostNetwork: true }),
  ];
  const names = (to: Identity) => lostPods({ from, to }, pods).map(({ metadata }) => metadata.name);
  t.strictSame(names(renamed), ['bare', 'owned', 'host']);
  t.strictSame(names(moved), ['host']);
});

t.test('nothing is left to do for objects of the new identity', async (t) => {
  t.strictSame(
    changes({
      nodes: [node('edge-9')],
      pods: [pod('web', 'edge-9')],
      volumes: [volume('pv-1', ['edge-9'])],
      leases: [{ metadata: { name: 'edge-9' } }],
    }),
    [],
  );
});
