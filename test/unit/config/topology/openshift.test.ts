import t from 'tap';
import { stringify } from 'yaml';
import { decodeManifests } from '../../../../lib/clients/kube/manifest-decoding.ts';
import {
  type TopologyManifest,
  topologyManifests,
} from '../../../../lib/config/topology/openshift.ts';
import { parseTopologyRelease } from '../../../../lib/config/topology/release.ts';
import { rowFor } from '../../../../lib/config/topology/row-for.ts';
import { ROWS } from '../../../../lib/config/topology/rows.ts';

const manifestsOf = (
  platform: 'none' | 'cloud',
  compute: number,
  laterWorkers = 0,
): TopologyManifest[] => topologyManifests(rowFor({ platform, compute, laterWorkers }));

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
    const manifests = manifestsOf(platform, compute, laterWorkers);
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
  const without = topologyManifests({ ...row, ingress });
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

t.test('every manifest can be applied, and has a place and a reason', async (t) => {
  for (const row of ROWS) {
    const manifests = topologyManifests(row);
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
});

t.test('releases', async (t) => {
  for (const [text, release] of [
    ['4.14', '4.14'],
    ['4.19', '4.19'],
    ['4.19.3', '4.19'],
    ['4.21.0-rc.1', '4.21'],
    ['4.19.0-0.okd-scos-2025-04-24-103438', '4.19'],
    ['5.0', '5.0'],
    ['5.0.0-ec.1', '5.0'],
  ] as const) {
    t.equal(parseTopologyRelease(text), release, text);
  }
  for (const text of ['', '4', '4.', '4.13', '3.11', '4.x', 'v4.19', '4.19 ', '4.19.', '4.19-rc']) {
    t.equal(parseTopologyRelease(text), undefined, text);
  }
});
