import t from 'tap';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { rendered } from './rendered-host.ts';

const objectSchema = z.object({
  apiVersion: z.literal('rbac.authorization.k8s.io/v1'),
  kind: z.string(),
  metadata: z.object({ name: z.string() }),
  roleRef: z.object({ kind: z.string(), name: z.string() }).optional(),
  subjects: z.array(z.object({ kind: z.string(), name: z.string() })).optional(),
  rules: z.array(z.record(z.string(), z.array(z.string()))).optional(),
});
const objects = rendered.manifests
  .filter(({ name }) => !/gather|deferred/.test(name))
  .flatMap(({ contents }) => parseAllDocuments(contents))
  .map((document) => objectSchema.parse(document.toJS()));

/** Who is given what beyond what Kubernetes gives by itself. */
const BINDINGS: readonly [role: string, kind: 'User' | 'Group', subject: string, reason: string][] =
  [
    [
      'system:kubelet-api-admin',
      'User',
      'kube-apiserver-kubelet-client',
      'logs and exec pass through it; it needs nothing of the API itself',
    ],
    [
      'system:certificates.k8s.io:certificatesigningrequests:selfnodeclient',
      'Group',
      'system:nodes',
      'who is a node renews its own certificate; nobody else has one to renew',
    ],
    ['sno-agents:csr-approver', 'User', 'sno-agents:csr-approver', 'the role below'],
  ];

t.test('each binding has a reason, and there is no other', async (t) => {
  const bindings = objects.flatMap(({ kind, roleRef, subjects }) =>
    roleRef === undefined
      ? []
      : [[kind, roleRef.kind, roleRef.name, subjects?.map((each) => [each.kind, each.name])]],
  );
  t.same(
    bindings,
    BINDINGS.map(([role, kind, name]) => [
      'ClusterRoleBinding',
      'ClusterRole',
      role,
      [[kind, name]],
    ]),
  );
});

t.test('the approver reads requests, approves one signer, and reads one node', async (t) => {
  const roles = objects.filter(({ rules }) => rules !== undefined);
  t.same(
    roles.map(({ kind, metadata }) => [kind, metadata.name]),
    [['ClusterRole', 'sno-agents:csr-approver']],
  );
  t.same(roles[0]?.rules, [
    {
      apiGroups: ['certificates.k8s.io'],
      resources: ['certificatesigningrequests'],
      verbs: ['get', 'list', 'watch'],
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
      verbs: ['get', 'list', 'watch'],
    },
  ]);
});

t.test('nobody is given the rights of an administrator', async (t) => {
  t.notMatch(JSON.stringify(rendered.manifests), /cluster-admin|system:masters/);
});
