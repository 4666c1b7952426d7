import t from 'tap';
import {
  failedRows,
  failureTable,
  faultRow,
  manifestRow,
  outcomeTable,
} from '../../../../lib/clients/kube/apply-table.ts';
import { errorFromAnswer } from '../../../../lib/clients/kube/kube-error.ts';
import { decodeManifests } from '../../../../lib/clients/kube/manifest-decoding.ts';
import { inLevels } from '../../../../lib/clients/kube/manifest-order.ts';
import { isExisting, isTransient } from '../../../../lib/clients/kube/retry-policy.ts';

const status = (fields: object) => JSON.stringify({ kind: 'Status', apiVersion: 'v1', ...fields });

const GROUPS: Readonly<Record<string, string>> = {
  PriorityClass: 'scheduling.k8s.io/v1',
  StorageClass: 'storage.k8s.io/v1',
  RuntimeClass: 'node.k8s.io/v1',
  IngressClass: 'networking.k8s.io/v1',
  ClusterRole: 'rbac.authorization.k8s.io/v1',
};

t.test('dependencies come first', async (t) => {
  const kind = (apiVersion: string, name: string) => ({ apiVersion, kind: name });
  const levels = inLevels([
    kind('apps/v1', 'Deployment'),
    kind('example.com/v1', 'Widget'),
    kind('admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration'),
    kind('v1', 'ConfigMap'),
    kind('rbac.authorization.k8s.io/v1', 'RoleBinding'),
    kind('rbac.authorization.k8s.io/v1', 'Role'),
    kind('v1', 'Namespace'),
    kind('v1', 'Service'),
    kind('apiextensions.k8s.io/v1', 'CustomResourceDefinition'),
    ...['PriorityClass', 'StorageClass', 'RuntimeClass', 'IngressClass', 'ClusterRole'].map(
      (name) => kind(GROUPS[name] ?? '', name),
    ),
    kind('security.openshift.io/v1', 'SecurityContextConstraints'),
    ...['ServiceAccount', 'Secret', 'LimitRange', 'ResourceQuota'].map((name) => kind('v1', name)),
    kind('rbac.authorization.k8s.io/v1', 'ClusterRoleBinding'),
    kind('v1', 'Pod'),
    kind('v1', 'ReplicationController'),
    ...['DaemonSet', 'ReplicaSet', 'StatefulSet'].map((name) => kind('apps/v1', name)),
    kind('batch/v1', 'CronJob'),
    kind('batch/v1', 'Job'),
    kind('admissionregistration.k8s.io/v1', 'MutatingWebhookConfiguration'),
    kind('apiregistration.k8s.io/v1', 'APIService'),
  ]);
  t.same(
    levels.map((level) => level.map((entry) => entry.kind)),
    [
      ['Namespace', 'CustomResourceDefinition'],
      [
        'Role',
        'PriorityClass',
        'StorageClass',
        'RuntimeClass',
        'IngressClass',
        'ClusterRole',
        'SecurityContextConstraints',
      ],
      [
        'ConfigMap',
        'RoleBinding',
        'ServiceAccount',
        'Secret',
        'LimitRange',
        'ResourceQuota',
        'ClusterRoleBinding',
      ],
      ['Widget', 'Service'],
      [
        'Deployment',
        'Pod',
        'ReplicationController',
        'DaemonSet',
        'ReplicaSet',
        'StatefulSet',
        'CronJob',
        'Job',
      ],
      ['ValidatingWebhookConfiguration', 'MutatingWebhookConfiguration', 'APIService'],
    ],
  );
});

const refusals = [
  { code: 404, body: status({ message: 'namespaces "x" not found' }), again: true },
  { code: 409, body: status({ reason: 'Conflict' }), again: true },
  { code: 429, body: status({ message: 'slow down' }), again: true },
  { code: 500, body: status({ message: 'failed calling webhook "w": refused' }), again: true },
  { code: 503, body: 'no Status at all', again: true },
  {
    code: 403,
    body: status({ details: { causes: [{ reason: 'NamespaceTerminating' }] } }),
    again: true,
  },
  { code: 403, body: status({ message: 'status unknown for quota: q' }), again: true },
  {
    code: 403,
    body: status({ message: 'error looking up service account n/default' }),
    again: true,
  },
  {
    code: 403,
    body: status({ message: 'no PriorityClass with name platform was found' }),
    again: true,
  },
  {
    code: 403,
    body: status({ message: 'pod rejected: RuntimeClass "kata" not found' }),
    again: true,
  },
  { code: 403, body: status({ message: 'not yet ready to handle request' }), again: true },
  {
    code: 403,
    body: status({ message: 'quota.openshift.io/ClusterResourceQuota: caches not synchronized' }),
    again: true,
  },
  {
    code: 403,
    body: status({ message: 'securitycontextconstraints cache is not synchronized' }),
    again: true,
  },
  {
    code: 403,
    body: status({ message: 'forbidden: could not list rolebinding restrictions: not found' }),
    again: true,
  },
  { code: 422, body: status({ message: 'status unknown for quota: q' }), again: false },
  {
    code: 422,
    body: status({ details: { causes: [{ reason: 'NamespaceTerminating' }] } }),
    again: true,
  },
  { code: 410, body: status({ message: 'expired' }), again: true },
  { code: 403, body: status({ message: 'exceeded quota: q' }), again: false },
  { code: 403, body: status({ message: 'violates PodSecurity "restricted"' }), again: false },
  {
    code: 403,
    body: status({ message: 'x is forbidden: User "a:b" cannot create resource "tills"' }),
    again: true,
  },
  {
    code: 403,
    body: status({ message: 'forbidden: User "a:b" cannot get path "/apis/shop.test/v1"' }),
    again: true,
  },
  { code: 400, body: status({ reason: 'BadRequest' }), again: false },
  { code: 401, body: status({ reason: 'Unauthorized' }), again: false },
  { code: 413, body: 'too large', again: false },
  { code: 422, body: status({ reason: 'Invalid' }), again: false },
];

t.test('only temporary errors are retried', async (t) => {
  for (const { code, body, again } of refusals) {
    t.equal(isTransient(errorFromAnswer('POST /x', code, body)), again, `${code} ${body}`);
  }
});

t.test('an object being deleted does not count as existing', async (t) => {
  const body = (message: string) => status({ reason: 'AlreadyExists', message });
  t.equal(isExisting(errorFromAnswer('POST /x', 409, body('"a" already exists'))), true);
  t.equal(
    isExisting(
      errorFromAnswer('POST /x', 409, body('object is being deleted: "a" already exists')),
    ),
    false,
  );
  t.equal(isExisting(errorFromAnswer('POST /x', 409, status({ reason: 'Conflict' }))), false);
});

t.test('the table lists what was not applied, and why', async (t) => {
  const text =
    '{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: ns}}\n---\n{apiVersion: v1, kind: Node, metadata: {name: longer-name}}\n---\n- x';
  const { manifests, undecodable } = decodeManifests('a.yaml', text);
  const [secret, node] = manifests;
  const [fault] = undecodable;
  if (secret === undefined || node === undefined || fault === undefined) throw new Error('decoded');
  const rows = [
    faultRow({ kind: 'undecodable', ...fault }),
    manifestRow(secret, 'created', '', 1, ['a', 'b']),
    manifestRow(node, 'rejected', 'Node "x" is invalid:\n  spec', 1),
    faultRow({ kind: 'duplicate', manifest: secret, first: secret }),
  ];
  t.same(failedRows(rows), [rows[0], rows[2], rows[3]]);
  t.same(rows, [
    {
      ...{ file: 'a.yaml', document: 3, line: 5, kind: '', namespace: '', name: '' },
      ...{ outcome: 'undecodable', reason: fault.reason, attempts: 0, warnings: [] },
    },
    {
      ...{ file: 'a.yaml', document: 1, line: 1, kind: 'Secret', namespace: 'ns', name: 's' },
      ...{ outcome: 'created', reason: '', attempts: 1, warnings: ['a', 'b'] },
    },
    {
      ...{ file: 'a.yaml', document: 2, line: 3, kind: 'Node', namespace: '', name: 'longer-name' },
      ...{ outcome: 'rejected', reason: 'Node "x" is invalid:\n  spec', attempts: 1, warnings: [] },
    },
    {
      ...{ file: 'a.yaml', document: 1, line: 1, kind: 'Secret', namespace: 'ns', name: 's' },
      ...{
        outcome: 'duplicate',
        reason: 'the same object as in a.yaml:1',
        attempts: 0,
        warnings: [],
      },
    },
  ]);
  t.same(failureTable(rows), [
    'WHERE     OBJECT            OUTCOME      TRIES  WHY',
    `a.yaml:5  -                 undecodable  0      ${fault.reason}`,
    'a.yaml:3  Node longer-name  rejected     1      Node "x" is invalid: spec',
    'a.yaml:1  Secret ns/s       duplicate    0      the same object as in a.yaml:1',
  ]);
  t.same(outcomeTable(rows).slice(2, 3), [
    'a.yaml:1  Secret ns/s       created      1      warning: a; warning: b',
  ]);
  t.equal(outcomeTable(rows).length, 5);
  t.same(failureTable([manifestRow(secret, 'existing', '', 1)]), []);
  t.same(outcomeTable([manifestRow(secret, 'existing', '', 1)]), []);
  const long = outcomeTable([manifestRow(secret, 'rejected', `\u001b[2J\n${'x'.repeat(5000)}`, 1)]);
  t.match(long[1], / {2}\\u001b\[2J x+ …$/);
  t.ok((long[1] ?? '').length < 2100);
});
