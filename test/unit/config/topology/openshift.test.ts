import t from 'tap';
import { stringify } from 'yaml';
import { decodeManifests } from '../../../../lib/clients/kube/manifest-decoding.ts';
import {
  type TopologyManifest,
  topologyManifests,
} from '../../../../lib/config/topology/openshift.ts';
import { OVERRIDES, overridesFor } from '../../../../lib/config/topology/overrides.ts';
import { parseTopologyRelease, type Release } from '../../../../lib/config/topology/release.ts';
import { rowFor } from '../../../../lib/config/topology/row-for.ts';
import { ROWS } from '../../../../lib/config/topology/rows.ts';

const latest: Release = '4.21';
const manifestsOf = (
  platform: 'none' | 'cloud',
  compute: number,
  { release = latest, laterWorkers = 0 } = {},
): TopologyManifest[] => topologyManifests(rowFor({ platform, compute, laterWorkers }), release);

const kinds = (manifests: readonly TopologyManifest[]) =>
  manifests.map(({ object }) => object.kind).join(' ');
const objectOf = (manifests: readonly TopologyManifest[], kind: string) =>
  manifests.find(({ object }) => object.kind === kind)?.object;

const PINNED = 'Infrastructure Ingress Scheduler IngressController';
const APPROVAL = 'Namespace ConfigMap';

/** What each row writes: kinds, topology of the infrastructure, schedulable masters, placement. */
const ROW_BY_ROW = [
  ['none', 0, 0, `${PINNED} ${APPROVAL}`, 'SingleReplica', true, 'ControlPlane'],
  ['cloud', 0, 0, PINNED, 'SingleReplica', true, 'ControlPlane'],
  ['none', 1, 0, `${PINNED} ${APPROVAL}`, 'SingleReplica', false, 'ControlPlane'],
  ['cloud', 1, 0, 'Infrastructure Ingress Scheduler', 'HighlyAvailable', true, 'Workers'],
  ['none', 2, 0, `${PINNED} ${APPROVAL}`, 'SingleReplica', false, 'ControlPlane'],
  ['cloud', 2, 0, 'Infrastructure Ingress Scheduler', 'HighlyAvailable', false, 'Workers'],
  ['none', 0, 1, `${PINNED} ${APPROVAL}`, 'SingleReplica', true, 'ControlPlane'],
  ['cloud', 0, 1, PINNED, 'SingleReplica', true, 'ControlPlane'],
] as const;

for (const [platform, compute, laterWorkers, written, topology, schedulable, place] of ROW_BY_ROW) {
  t.test(`${compute} and ${laterWorkers} workers on ${platform}`, async (t) => {
    const manifests = manifestsOf(platform, compute, { laterWorkers });
    t.equal(kinds(manifests), written);
    t.same(objectOf(manifests, 'Infrastructure'), {
      apiVersion: 'config.openshift.io/v1',
      kind: 'Infrastructure',
      metadata: { name: 'cluster' },
      status: { controlPlaneTopology: 'SingleReplica', infrastructureTopology: topology },
    });
    t.same(objectOf(manifests, 'Ingress'), {
      apiVersion: 'config.openshift.io/v1',
      kind: 'Ingress',
      metadata: { name: 'cluster' },
      status: { defaultPlacement: place },
    });
    t.same(objectOf(manifests, 'Scheduler'), {
      apiVersion: 'config.openshift.io/v1',
      kind: 'Scheduler',
      metadata: { name: 'cluster' },
      spec: { mastersSchedulable: schedulable },
    });
    t.same(
      manifests.filter(({ isPartial }) => isPartial).map(({ object }) => object.kind),
      ['Infrastructure', 'Ingress'],
    );
  });
}

t.test('the default ingress controller is pinned and tolerates the taint', async (t) => {
  const expected = {
    apiVersion: 'operator.openshift.io/v1',
    kind: 'IngressController',
    metadata: { name: 'default', namespace: 'openshift-ingress-operator' },
    spec: {
      replicas: 1,
      nodePlacement: {
        nodeSelector: {
          matchLabels: { 'kubernetes.io/os': 'linux', 'node-role.kubernetes.io/master': '' },
        },
        tolerations: [
          { key: 'node-role.kubernetes.io/master', operator: 'Exists', effect: 'NoSchedule' },
        ],
      },
    },
  };
  t.same(objectOf(manifestsOf('none', 2), 'IngressController'), expected);
  t.same(objectOf(manifestsOf('cloud', 0), 'IngressController'), expected);
  const row = rowFor({ platform: 'none', compute: 0, laterWorkers: 0 });
  const ingress = { ...row.ingress, toleratesControlPlane: false };
  const without = topologyManifests({ ...row, ingress }, latest);
  t.same(objectOf(without, 'IngressController')?.spec, {
    replicas: 1,
    nodePlacement: { nodeSelector: expected.spec.nodePlacement.nodeSelector },
  });
  t.notMatch(without[3]?.says, /taint/);
  t.match(manifestsOf('none', 0)[3]?.says, /^replicas 1, .*role master, tolerating its taint$/);
});

t.test('on platform none, no Machine admits a node', async (t) => {
  const manifests = manifestsOf('none', 0);
  const namespace = 'openshift-cluster-machine-approver';
  t.same(objectOf(manifests, 'Namespace'), {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: namespace },
  });
  t.same(objectOf(manifests, 'ConfigMap'), {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'machine-approver-config', namespace },
    data: { 'config.yaml': 'nodeClientCert:\n  disabled: true\n' },
  });
});

t.test('what earlier releases need', async (t) => {
  t.same(objectOf(manifestsOf('none', 0, { release: '4.7' }), 'Infrastructure')?.status, {
    highAvailabilityMode: 'None',
  });
  t.match(objectOf(manifestsOf('none', 0, { release: '4.8' }), 'Infrastructure')?.status, {
    controlPlaneTopology: 'SingleReplica',
  });
  t.equal(objectOf(manifestsOf('none', 0, { release: '4.10' }), 'Ingress'), undefined);
  t.match(objectOf(manifestsOf('none', 0, { release: '4.11' }), 'Ingress'), {});
});

const ETCD = 'cluster-etcd-operator';
const AUTHENTICATION = 'cluster-authentication-operator';
const GUARD = 'cluster-version-operator';
const NEEDED: Readonly<Record<Release, readonly string[]>> = {
  '4.4': [ETCD, GUARD],
  '4.5': [ETCD, GUARD],
  '4.6': [ETCD, AUTHENTICATION, GUARD],
  '4.7': [ETCD, AUTHENTICATION, GUARD],
  '4.8': [],
  '4.14': [],
  '4.21': [],
  '5.0': [],
};

t.test('overrides of operators, release by release', async (t) => {
  for (const [text, operators] of Object.entries(NEEDED)) {
    const release = parseTopologyRelease(text) ?? latest;
    const found = overridesFor(release);
    t.same(
      found.map(({ operator }) => operator),
      operators,
      release,
    );
    const written = kinds(manifestsOf('none', 0, { release }));
    t.equal(/ Etcd/.test(written), operators.includes(ETCD), `${release}: Etcd`);
    t.equal(
      / Authentication$/.test(written),
      operators.includes(AUTHENTICATION),
      `${release}: Authentication`,
    );
  }
  const manifests = manifestsOf('cloud', 2, { release: '4.7' });
  t.match(objectOf(manifests, 'Etcd'), {
    apiVersion: 'operator.openshift.io/v1',
    metadata: { name: 'cluster' },
    spec: {
      unsupportedConfigOverrides: { useUnsupportedUnsafeNonHANonProductionUnstableEtcd: true },
    },
  });
  t.match(objectOf(manifests, 'Authentication'), {
    apiVersion: 'operator.openshift.io/v1',
    metadata: { name: 'cluster' },
    spec: {
      unsupportedConfigOverrides: {
        useUnsupportedUnsafeNonHANonProductionUnstableOAuthServer: true,
      },
    },
  });
  for (const { source } of OVERRIDES) t.match(source, /openshift\//);
});

t.test('every manifest can be applied, and has a place and a reason', async (t) => {
  for (const row of ROWS) {
    for (const release of ['4.4', '4.7', '4.8', '4.10', '4.11', '4.14', '4.21', '5.0'] as const) {
      const manifests = topologyManifests(row, release);
      t.equal(new Set(manifests.map(({ file }) => file)).size, manifests.length);
      for (const { file, object, says, why } of manifests) {
        const decoded = decodeManifests(file, stringify(object));
        t.same(decoded.undecodable, [], file);
        t.equal(decoded.manifests.length, 1, file);
        t.match(file, /^(manifests|openshift)\/[a-z0-9_-]+\.ya?ml$/);
        t.match(why, /^[A-Z].*\.$/, file);
        t.match(says, /\S/, file);
      }
    }
  }
});

t.test('releases', async (t) => {
  for (const [text, release] of [
    ['4.4', '4.4'],
    ['4.19', '4.19'],
    ['4.19.3', '4.19'],
    ['4.21.0-rc.1', '4.21'],
    ['4.7.0-0.okd-2021-04-24-103438', '4.7'],
    ['5.0', '5.0'],
    ['5.0.0-ec.1', '5.0'],
  ] as const) {
    t.equal(parseTopologyRelease(text), release, text);
  }
  for (const text of ['', '4', '4.', '4.3', '3.11', '4.x', 'v4.19', '4.19 ', '4.19.', '4.19-rc']) {
    t.equal(parseTopologyRelease(text), undefined, text);
  }
});
