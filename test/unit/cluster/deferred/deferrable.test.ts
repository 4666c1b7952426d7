import t from 'tap';
import { decodeManifests } from '../../../../lib/clients/kube/manifest-decoding.ts';
import { deferrable } from '../../../../lib/cluster/deferred/deferrable.ts';
import { kubernetesRenderer } from '../../../../lib/render/kubernetes/index.ts';
import { input } from '../../render/rendered-host.ts';

const object = (apiVersion: string, kind: string) =>
  `{apiVersion: "${apiVersion}", kind: ${kind}, metadata: {name: x}}\n`;
const definition = (group: string, kind: string) =>
  `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: x}, spec: {group: ${group}, names: {kind: ${kind}}}}\n`;

const CASES: readonly { name: string; texts: string[]; deferred: string[] }[] = [
  { name: 'core', texts: [object('v1', 'Secret')], deferred: [] },
  {
    name: 'built in',
    texts: [object('rbac.authorization.k8s.io/v1', 'ClusterRole')],
    deferred: [],
  },
  { name: 'a group without a dot', texts: [object('apps/v1', 'Deployment')], deferred: [] },
  {
    name: 'misspelt, in a built-in group: the bootstrap says so',
    texts: [object('apps/v1', 'Deploymnet')],
    deferred: [],
  },
  {
    name: 'a version that is gone, of a built-in group',
    texts: [object('policy/v1beta1', 'PodSecurityPolicy')],
    deferred: [],
  },
  {
    name: 'served by something that comes later',
    texts: [object('snapshot.storage.k8s.io/v1', 'VolumeSnapshotClass')],
    deferred: ['VolumeSnapshotClass'],
  },
  {
    name: 'defined in another file, by another version',
    texts: [object('example.com/v2', 'Till'), definition('example.com', 'Till')],
    deferred: [],
  },
  {
    name: 'another kind of a group that is defined',
    texts: [object('example.com/v1', 'Shop'), definition('example.com', 'Till')],
    deferred: ['Shop'],
  },
  {
    name: 'the same kind of another group',
    texts: [object('example.org/v1', 'Till'), definition('example.com', 'Till')],
    deferred: ['Till'],
  },
  {
    name: 'a definition without a group defines nothing',
    texts: [
      object('example.com/v1', 'Till'),
      object('apiextensions.k8s.io/v1', 'CustomResourceDefinition'),
    ],
    deferred: ['Till'],
  },
  {
    name: 'only a CustomResourceDefinition defines a kind',
    texts: [
      object('example.com/v1', 'Till'),
      definition('example.com', 'Till').replace('CustomResourceDefinition', 'Other'),
    ],
    deferred: ['Till'],
  },
  {
    name: 'only one of the API group of definitions defines a kind',
    texts: [
      object('example.com/v1', 'Till'),
      definition('example.com', 'Till').replace('apiextensions.k8s.io/v1', 'v1'),
    ],
    deferred: ['Till'],
  },
  {
    name: 'a definition without the name of a kind defines nothing',
    texts: [
      object('example.com/v1', 'Till'),
      definition('example.com', 'Till').replace('kind: Till', 'plural: tills'),
    ],
    deferred: ['Till'],
  },
  ...['a.b/v1', '0a-b.c-d.example.com/v1', 'k8s.io/v1', 'x.apps/v1'].map((apiVersion) => ({
    name: `${apiVersion} is not built in`,
    texts: [object(apiVersion, 'Till')],
    deferred: ['Till'],
  })),
  ...[
    '*/v1',
    '*.example.com/v1',
    'Example.com/v1',
    'example/v1',
    '-.com/v1',
    'a-.com/v1',
    'a.-com/v1',
    'a.com-/v1',
    'a..com/v1',
    '.com/v1',
    'com./v1',
    'a_b.com/v1',
    'a.b/c/v1',
  ].map((apiVersion) => ({
    name: `${apiVersion} is not a group to grant rights in`,
    texts: [object(apiVersion, 'Till')],
    deferred: [],
  })),
];

for (const { name, texts, deferred } of CASES) {
  t.test(name, async (t) => {
    const manifests = texts.flatMap((text, at) => decodeManifests(`${at}.yaml`, text).manifests);
    t.equal(manifests.length, texts.length);
    t.same(
      [...deferrable(manifests)].map(({ kind }) => kind),
      deferred,
    );
  });
}

/** Kinds encountered by users of bootstrap-in-place. */
const MET = {
  'k8s.cni.cncf.io': ['NetworkAttachmentDefinition'],
  'machineconfiguration.openshift.io': ['ControllerConfig'],
  'network.openshift.io': ['ClusterNetwork', 'EgressNetworkPolicy', 'HostSubnet', 'NetNamespace'],
  'snapshot.storage.k8s.io': ['VolumeSnapshot', 'VolumeSnapshotClass', 'VolumeSnapshotContent'],
  'whereabouts.cni.cncf.io': ['IPPool', 'OverlappingRangeIPReservation'],
};
t.test('kinds that users previously had to leave out are deferred', async (t) => {
  for (const [group, kinds] of Object.entries(MET)) {
    for (const kind of kinds) {
      const { manifests } = decodeManifests('x', object(`${group}/v1`, kind));
      t.equal(deferrable(manifests).size, 1, kind);
    }
  }
});

t.test('the rendered control plane defines no kinds, which create relies on', async (t) => {
  const { manifests } = await kubernetesRenderer.render(input);
  const kinds = manifests.flatMap(({ name, contents }) =>
    decodeManifests(name, contents).manifests.map(({ kind }) => kind),
  );
  t.ok(kinds.includes('ClusterRole'));
  t.notOk(kinds.includes('CustomResourceDefinition'));
});
