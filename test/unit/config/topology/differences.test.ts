import t from 'tap';
import { decodeManifests } from '../../../../lib/clients/kube/manifest-decoding.ts';
import { missingTopology } from '../../../../lib/config/topology/differences.ts';
import { rowFor } from '../../../../lib/config/topology/row-for.ts';

/** As openshift-install writes them, with fields that say nothing about the topology. */
const INSTALLER = `
apiVersion: config.openshift.io/v1
kind: Infrastructure
metadata: {creationTimestamp: null, name: cluster}
spec: {cloudConfig: {name: ""}, platformSpec: {type: None}}
status: {controlPlaneTopology: SingleReplica, infrastructureTopology: SingleReplica, platform: None}
---
apiVersion: config.openshift.io/v1
kind: Ingress
metadata: {name: cluster}
spec: {domain: apps.sno.example.com}
status: {defaultPlacement: ControlPlane}
---
apiVersion: config.openshift.io/v1
kind: Scheduler
metadata: {name: cluster}
spec: {mastersSchedulable: true, policy: {name: ""}}
status: {}
`;

const ADDED = `---
apiVersion: operator.openshift.io/v1
kind: IngressController
metadata: {name: default, namespace: openshift-ingress-operator}
spec:
  replicas: 1
  nodePlacement:
    nodeSelector: {matchLabels: {kubernetes.io/os: linux, node-role.kubernetes.io/master: ""}}
    tolerations: [{effect: NoSchedule, key: node-role.kubernetes.io/master, operator: Exists}]
---
apiVersion: v1
kind: Namespace
metadata: {name: openshift-cluster-machine-approver, labels: {a: b}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: machine-approver-config, namespace: openshift-cluster-machine-approver}
data: {config.yaml: "nodeClientCert:\\n  disabled: true\\n"}
`;

const row = rowFor({ platform: 'none', compute: 0, laterWorkers: 0 });

/** Each as `Kind/name` or `Kind/name field found`. */
function differences(text: string): string[] {
  const { manifests, undecodable } = decodeManifests('a.yaml', text);
  t.same(undecodable, []);
  return missingTopology(manifests, row).map(({ expected, field }) => {
    const { kind, metadata } = expected.object;
    const object = `${kind}/${metadata.name}`;
    return field === undefined ? object : `${object} ${field.path} ${JSON.stringify(field.found)}`;
  });
}

const ADDITIONS = [
  'IngressController/default',
  'Namespace/openshift-cluster-machine-approver',
  'ConfigMap/machine-approver-config',
];

t.test('what openshift-install does not write', async (t) => {
  t.same(differences(INSTALLER), ADDITIONS);
  t.same(differences(`${INSTALLER}${ADDED}`), []);
  t.same(differences(''), [
    'Infrastructure/cluster',
    'Ingress/cluster',
    'Scheduler/cluster',
    ...ADDITIONS,
  ]);
});

const EDITS: readonly [from: string, to: string, difference: string][] = [
  [
    'infrastructureTopology: SingleReplica',
    'infrastructureTopology: HighlyAvailable',
    'Infrastructure/cluster status.infrastructureTopology "HighlyAvailable"',
  ],
  [
    'controlPlaneTopology: SingleReplica, ',
    '',
    'Infrastructure/cluster status.controlPlaneTopology undefined',
  ],
  [
    'status: {defaultPlacement: ControlPlane}',
    '',
    'Ingress/cluster status.defaultPlacement undefined',
  ],
  [
    'mastersSchedulable: true',
    'mastersSchedulable: false',
    'Scheduler/cluster spec.mastersSchedulable false',
  ],
  ['replicas: 1', 'replicas: 2', 'IngressController/default spec.replicas 2'],
  [
    '    tolerations: [{effect: NoSchedule, key: node-role.kubernetes.io/master, operator: Exists}]\n',
    '',
    'IngressController/default spec.nodePlacement.tolerations undefined',
  ],
  [
    'key: node-role.kubernetes.io/master, operator',
    'key: other, operator',
    'IngressController/default spec.nodePlacement.tolerations [{"effect":"NoSchedule","key":"other","operator":"Exists"}]',
  ],
  [
    'disabled: true',
    'disabled: false',
    'ConfigMap/machine-approver-config data.config.yaml "nodeClientCert:\\n  disabled: false\\n"',
  ],
];

t.test('a value that is not that of the row', async (t) => {
  for (const [from, to, difference] of EDITS) {
    const text = `${INSTALLER}${ADDED}`;
    t.ok(text.includes(from), from);
    t.same(differences(text.replace(from, () => to)), [difference]);
  }
});

t.test('an object is recognised by group, kind, namespace and name', async (t) => {
  const all = `${INSTALLER}${ADDED}`;
  t.same(differences(all.replaceAll('config.openshift.io/v1', 'config.openshift.io/v1beta1')), []);
  t.same(differences(all.replace('kind: Ingress\n', 'kind: Other\n')), ['Ingress/cluster']);
  t.same(differences(all.replace('operator.openshift.io/v1', 'example.com/v1')), [
    'IngressController/default',
  ]);
  t.same(differences(all.replace('namespace: openshift-ingress-operator', 'namespace: default')), [
    'IngressController/default',
  ]);
  t.same(differences(all.replace('name: default,', 'name: second,')), [
    'IngressController/default',
  ]);
});
