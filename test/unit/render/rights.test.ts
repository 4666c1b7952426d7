import t from 'tap';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { rendered } from './rendered-host.ts';

const objectSchema = z.object({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.object({ name: z.string(), namespace: z.string().optional() }),
  roleRef: z.object({ kind: z.string(), name: z.string() }).optional(),
  subjects: z.array(z.object({ kind: z.string(), name: z.string() })).optional(),
  rules: z.array(z.record(z.string(), z.array(z.string()))).optional(),
});
const objects = rendered.manifests
  .flatMap(({ contents }) => parseAllDocuments(contents))
  .map((document) => objectSchema.parse(document.toJS()));

/** All rights in addition to Kubernetes' own; `where` is the namespace, if limited to one. */
const BINDINGS: readonly {
  role: string;
  subject: `${'User' | 'Group'} ${string}`;
  where?: string;
  reason: string;
}[] = [
  {
    role: 'system:kubelet-api-admin',
    subject: 'User kube-apiserver-kubelet-client',
    reason: 'for logs and exec; it needs no rights in the API itself',
  },
  {
    role: 'system:certificates.k8s.io:certificatesigningrequests:selfnodeclient',
    subject: 'Group system:nodes',
    reason: 'an existing node renews its own certificate',
  },
  {
    role: 'sno-agents:csr-approver',
    subject: 'User sno-agents:csr-approver',
    reason: 'the role below',
  },
  {
    role: 'sno-agents:worker-approver',
    subject: 'Group sno-agents:worker-approver',
    reason: 'the role below; its certificates are signed in memory while a worker is expected',
  },
  {
    role: 'system:node-bootstrapper',
    subject: 'Group system:bootstrappers:sno-workers',
    reason: 'a worker requests its first certificate; nothing approves it but the list of workers',
  },
  {
    role: 'extension-apiserver-authentication-reader',
    subject: 'Group system:bootstrappers:sno-workers',
    where: 'kube-system',
    reason: 'the kubelet of a worker knows its clients by these certificates, which are public',
  },
  {
    role: 'sno:worker-api-trust',
    subject: 'Group system:bootstrappers:sno-workers',
    where: 'kube-system',
    reason: 'the kubelet of a worker knows the API server by this certificate, which is public',
  },
  {
    role: 'sno:worker-api-trust',
    subject: 'Group system:nodes',
    where: 'kube-system',
    reason: 'the same when it is rotated: the node authorizer grants ConfigMaps of own pods only',
  },
  {
    role: 'cluster-admin',
    subject: 'Group sno:administrators',
    reason: 'administrators whose certificates the cluster signed: system:masters is not admitted',
  },
  {
    role: 'sno-agents:gather',
    subject: 'Group sno-agents:gather',
    reason: 'gathering a bundle uses a certificate of ten minutes',
  },
  {
    role: 'sno-agents:steady',
    subject: 'Group sno-agents:steady',
    reason: 'wait-steady reads what its verdict depends on',
  },
  {
    role: 'sno-agents:steady',
    subject: 'Group sno-agents:steady',
    where: 'kube-system',
    reason: 'its verdict is one ConfigMap',
  },
  {
    role: 'sno-agents:installation',
    subject: 'Group sno-agents:installation',
    where: 'kube-system',
    reason: 'the status of the installation is one ConfigMap',
  },
  {
    role: 'sno-agents:deferred',
    subject: 'User sno-agents:deferred',
    reason: 'for kinds that are served later, until they are applied',
  },
  {
    role: 'sno-agents:deferred',
    subject: 'User sno-agents:deferred',
    where: 'kube-system',
    reason: 'their status is one ConfigMap',
  },
];

t.test('each binding has a reason', async (t) => {
  const bindings = objects.flatMap(({ metadata, roleRef, subjects }) =>
    roleRef === undefined
      ? []
      : [[roleRef.name, metadata.namespace, subjects?.map(({ kind, name }) => `${kind} ${name}`)]],
  );
  t.same(
    bindings,
    BINDINGS.map(({ role, where, subject }) => [role, where, [subject]]),
  );
});

const objectsIn = (name: string): unknown[] =>
  parseAllDocuments(rendered.manifests.find((each) => each.name === name)?.contents ?? '').map(
    (document) => document.toJS(),
  );

const apiVersion = 'rbac.authorization.k8s.io/v1';
const apiGroup = 'rbac.authorization.k8s.io';

t.test('manifests are applied in this order, under these names', async (t) => {
  t.same(
    rendered.manifests.map(({ name }) => name),
    [
      '10-kubelet-api-access.yaml',
      '10-kubelet-client-renewal.yaml',
      '10-csr-approver.yaml',
      '10-workers.yaml',
      '10-administrators.yaml',
      '10-gather.yaml',
      '10-steady.yaml',
      '10-installation-status.yaml',
      '10-deferred.yaml',
    ],
  );
});

t.test(
  'the API server is a client of the kubelet, and nodes renew their certificates',
  async (t) => {
    const name = 'sno:kubelet-api';
    t.same(objectsIn('10-kubelet-api-access.yaml'), [
      {
        apiVersion,
        kind: 'ClusterRoleBinding',
        metadata: { name },
        roleRef: { apiGroup, kind: 'ClusterRole', name: 'system:kubelet-api-admin' },
        subjects: [{ apiGroup, kind: 'User', name: 'kube-apiserver-kubelet-client' }],
      },
    ]);
    t.same(objectsIn('10-kubelet-client-renewal.yaml'), [
      {
        apiVersion,
        kind: 'ClusterRoleBinding',
        metadata: { name: 'sno:kubelet-client-renewal' },
        roleRef: {
          apiGroup,
          kind: 'ClusterRole',
          // Its neighbour "nodeclient" would let a bootstrapper become any node.
          name: 'system:certificates.k8s.io:certificatesigningrequests:selfnodeclient',
        },
        subjects: [{ apiGroup, kind: 'Group', name: 'system:nodes' }],
      },
    ]);
  },
);

t.test('the approver reads requests, approves for one signer and reads one node', async (t) => {
  const name = 'sno-agents:csr-approver';
  t.same(objectsIn('10-csr-approver.yaml'), [
    {
      apiVersion,
      kind: 'ClusterRole',
      metadata: { name },
      rules: [
        {
          apiGroups: ['certificates.k8s.io'],
          resources: ['certificatesigningrequests'],
          verbs: ['list', 'watch'],
        },
        {
          apiGroups: ['certificates.k8s.io'],
          resources: ['certificatesigningrequests/approval'],
          verbs: ['update'],
        },
        {
          apiGroups: ['certificates.k8s.io'],
          resources: ['signers'],
          resourceNames: ['kubernetes.io/kubelet-serving'],
          verbs: ['approve'],
        },
        {
          apiGroups: [''],
          resources: ['nodes'],
          resourceNames: ['edge-0'],
          verbs: ['list', 'watch'],
        },
      ],
    },
    {
      apiVersion,
      kind: 'ClusterRoleBinding',
      metadata: { name },
      roleRef: { apiGroup, kind: 'ClusterRole', name },
      subjects: [{ apiGroup, kind: 'User', name }],
    },
  ]);
});

t.test('the approver of workers approves for two signers and reads nodes', async (t) => {
  const [role, ...bindings] = objectsIn('10-workers.yaml');
  t.same(role, {
    apiVersion,
    kind: 'ClusterRole',
    metadata: { name: 'sno-agents:worker-approver' },
    rules: [
      {
        apiGroups: ['certificates.k8s.io'],
        resources: ['certificatesigningrequests'],
        verbs: ['list', 'watch'],
      },
      {
        apiGroups: ['certificates.k8s.io'],
        resources: ['certificatesigningrequests/approval'],
        verbs: ['update'],
      },
      {
        apiGroups: ['certificates.k8s.io'],
        resources: ['signers'],
        resourceNames: [
          'kubernetes.io/kube-apiserver-client-kubelet',
          'kubernetes.io/kubelet-serving',
        ],
        verbs: ['approve'],
      },
      { apiGroups: [''], resources: ['nodes'], verbs: ['list', 'watch'] },
    ],
  });
  t.equal(bindings.length, 6);
  t.match(bindings.at(-3), {
    kind: 'Role',
    metadata: { namespace: 'kube-system' },
    rules: [{ resources: ['configmaps'], resourceNames: ['kube-root-ca.crt'], verbs: ['get'] }],
  });
});

t.test('deferred manifests are created in their API groups', async (t) => {
  const [role] = objectsIn('10-deferred.yaml');
  t.match(role, {
    kind: 'ClusterRole',
    rules: [{}, {}, { apiGroups: ['volumes.example.test'], verbs: ['get', 'create'] }, {}, {}],
  });
});

t.test('no agent has all rights or can read Secrets', async (t) => {
  const rules = objects.flatMap((object) => object.rules ?? []);
  t.ok(rules.length > 5);
  for (const { apiGroups = [], resources = [], verbs = [] } of rules) {
    t.notOk(resources.includes('secrets') && apiGroups.includes(''), 'Secrets');
    // Groups not served by Kubernetes itself: those of deferred manifests, and those listed in a bundle.
    const ofOthers = apiGroups.every((group) => /\.(example\.test|openshift\.io)$/.test(group));
    t.notOk(resources.includes('*') && !ofOthers, `all of ${apiGroups.join()}`);
    t.notOk(verbs.includes('*') && !ofOthers, `everything with ${resources.join()}`);
    t.notOk(verbs.some((verb) => ['impersonate', 'escalate', 'bind'].includes(verb)));
  }
});

t.test('nothing but administrators gets the rights of one', async (t) => {
  const others = rendered.manifests.filter(({ name }) => name !== '10-administrators.yaml');
  t.notMatch(JSON.stringify(others), /cluster-admin|system:masters/);
  t.same(objectsIn('10-administrators.yaml'), [
    {
      apiVersion,
      kind: 'ClusterRoleBinding',
      metadata: { name: 'sno:administrators' },
      roleRef: { apiGroup, kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ apiGroup, kind: 'Group', name: 'sno:administrators' }],
    },
  ]);
});
