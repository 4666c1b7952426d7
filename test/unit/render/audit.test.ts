import t from 'tap';
import { parse } from 'yaml';
import { z } from 'zod';
import { textAt } from './rendered-host.ts';

const policySchema = z.strictObject({
  apiVersion: z.literal('audit.k8s.io/v1'),
  kind: z.literal('Policy'),
  omitStages: z.array(z.string()),
  rules: z.array(
    z.strictObject({
      level: z.string(),
      users: z.array(z.string()).optional(),
      userGroups: z.array(z.string()).optional(),
      verbs: z.array(z.string()).optional(),
      resources: z
        .array(z.strictObject({ group: z.string(), resources: z.array(z.string()).optional() }))
        .optional(),
      nonResourceURLs: z.array(z.string()).optional(),
    }),
  ),
});
const policy = policySchema.parse(
  parse(textAt('/etc/kubernetes/kube-apiserver/audit-policy.yaml')),
);

interface Request {
  verb: string;
  /** `group/resource` or `resource`; absent: another URL. */
  resource?: string;
  url?: string;
  user?: string;
  group?: string;
}

/** The API server's decision: the first rule that matches. */
function levelOf({ verb, resource, url, user = 'somebody', group = 'some' }: Request): string {
  const [name = '', apiGroup = ''] = (resource ?? '').split('@');
  const found = policy.rules.find((rule) => {
    const who = (rule.users?.includes(user) ?? true) && (rule.userGroups?.includes(group) ?? true);
    if (!who || !(rule.verbs?.includes(verb) ?? true)) return false;
    if (rule.nonResourceURLs !== undefined) {
      return rule.nonResourceURLs.some((each) =>
        each.endsWith('*') ? url?.startsWith(each.slice(0, -1)) : url === each,
      );
    }
    if (rule.resources === undefined) return true;
    return rule.resources.some(
      (each) => each.group === apiGroup && (each.resources?.includes(name) ?? true),
    );
  });
  return found?.level ?? 'None';
}

const nodes = { user: 'system:node:edge-0', group: 'system:nodes' };
const CASES: readonly [what: string, request: Request, level: string][] = [
  ['a Secret that is made', { verb: 'create', resource: 'secrets' }, 'Metadata'],
  ['a Secret that is read', { verb: 'get', resource: 'secrets' }, 'Metadata'],
  [
    'a Secret that a node reads, or is refused',
    { verb: 'get', resource: 'secrets', ...nodes },
    'Metadata',
  ],
  [
    'a Secret that a controller reads',
    { verb: 'list', resource: 'secrets', user: 'system:kube-controller-manager' },
    'Metadata',
  ],
  ['a Secret that a node writes', { verb: 'update', resource: 'secrets', ...nodes }, 'Metadata'],
  ['a ConfigMap', { verb: 'update', resource: 'configmaps' }, 'Metadata'],
  ['a token', { verb: 'create', resource: 'serviceaccounts/token' }, 'Metadata'],
  [
    'a review of a token',
    { verb: 'create', resource: 'tokenreviews@authentication.k8s.io' },
    'Metadata',
  ],
  ['a command in a pod', { verb: 'create', resource: 'pods/exec' }, 'Metadata'],
  ['a workload', { verb: 'create', resource: 'deployments@apps' }, 'Metadata'],
  ['the metrics', { verb: 'get', url: '/metrics' }, 'Metadata'],
  ...['create', 'update', 'patch', 'delete'].flatMap((verb): [string, Request, string][] => [
    [
      `a right: ${verb}`,
      { verb, resource: 'clusterrolebindings@rbac.authorization.k8s.io' },
      'RequestResponse',
    ],
    [
      `a request for a certificate: ${verb}`,
      { verb, resource: 'certificatesigningrequests@certificates.k8s.io' },
      'RequestResponse',
    ],
  ]),
  [
    'a right that is read',
    { verb: 'get', resource: 'clusterroles@rbac.authorization.k8s.io' },
    'Metadata',
  ],
  [
    'requests for certificates, listed',
    { verb: 'list', resource: 'certificatesigningrequests@certificates.k8s.io' },
    'Metadata',
  ],
  [
    'an approval',
    { verb: 'update', resource: 'certificatesigningrequests/approval@certificates.k8s.io' },
    'RequestResponse',
  ],
  [
    'rights, changed by a controller',
    {
      verb: 'update',
      resource: 'clusterroles@rbac.authorization.k8s.io',
      user: 'system:kube-controller-manager',
    },
    'RequestResponse',
  ],
  ...['/healthz', '/readyz', '/livez', '/livez/etcd', '/version'].map(
    (url): [string, Request, string] => [`a probe of ${url}`, { verb: 'get', url }, 'None'],
  ),
  ...['get', 'update', 'patch'].map((verb): [string, Request, string] => [
    `a heartbeat: ${verb}`,
    { verb, resource: 'leases@coordination.k8s.io' },
    'None',
  ]),
  [
    'a Lease that is deleted',
    { verb: 'delete', resource: 'leases@coordination.k8s.io' },
    'Metadata',
  ],
  ['an event', { verb: 'create', resource: 'events' }, 'None'],
  ['a newer event', { verb: 'create', resource: 'events@events.k8s.io' }, 'None'],
  ...['get', 'list', 'watch'].flatMap((verb) =>
    [
      ...['kube-controller-manager', 'kube-scheduler', 'apiserver'].map((name) => ({
        user: `system:${name}`,
      })),
      nodes,
    ].map((who): [string, Request, string] => [
      `${who.user} looking: ${verb}`,
      { verb, resource: 'pods', ...who },
      'None',
    ]),
  ),
  [
    'the scheduler acting',
    { verb: 'create', resource: 'pods/binding', user: 'system:kube-scheduler' },
    'Metadata',
  ],
  ['a node acting', { verb: 'patch', resource: 'nodes/status', ...nodes }, 'Metadata'],
  ...['events.k8s.io', 'coordination.k8s.io', 'certificates.k8s.io'].map(
    (group): [string, Request, string] => [
      `another kind of ${group}`,
      { verb: 'update', resource: `things@${group}` },
      'Metadata',
    ],
  ),
  ['another user of the same verbs', { verb: 'get', resource: 'configmaps' }, 'Metadata'],
  ['a kind of another group', { verb: 'get', resource: 'leases@example.test' }, 'Metadata'],
  ['somebody looking', { verb: 'list', resource: 'pods' }, 'Metadata'],
];

for (const [what, request, level] of CASES) {
  t.equal(levelOf(request), level, `${what}: ${level}`);
}
t.same(policy.omitStages, ['RequestReceived'], 'what is refused or panics is logged all the same');
