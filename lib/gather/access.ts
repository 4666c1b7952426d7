/**
 * The rights of who gathers a log bundle on the installed host. Nothing there holds them:
 * the host has the authority that signs clients, and a certificate for them is signed
 * for each bundle, in memory.
 */
import { groupOf } from '../kube/kind-name.ts';
import {
  builtInCollections,
  type Collection,
  openshiftCollections,
  wholeGroups,
} from './collections.ts';

const rbac = 'rbac.authorization.k8s.io';

/** The name of the user, of its group, and of the role and its binding to the group. */
export const gatherIdentity = 'sno-agents:gather';

/**
 * May list what a bundle has and read containers' logs. No Secrets: who may list their
 * names may read their values, and names are to be had from etcd's keys. No proxy to nodes,
 * which is the right to run commands in every container.
 */
export function gatherAccess(): object[] {
  return [
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRole',
      metadata: { name: gatherIdentity },
      rules: [
        ...rulesFor([...builtInCollections, ...openshiftCollections]),
        { apiGroups: wholeGroups.map(groupOf), resources: ['*'], verbs: ['get', 'list'] },
        { apiGroups: [''], resources: ['pods/log'], verbs: ['get'] },
        {
          nonResourceURLs: ['/version', '/livez', '/livez/*', '/readyz', '/readyz/*'],
          verbs: ['get'],
        },
        { nonResourceURLs: ['/api', '/api/*', '/apis', '/apis/*', '/openapi/*'], verbs: ['get'] },
      ],
    },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: gatherIdentity },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: gatherIdentity },
      subjects: [{ apiGroup: rbac, kind: 'Group', name: gatherIdentity }],
    },
  ];
}

/** One rule for each API group. */
function rulesFor(collections: readonly Collection[]): object[] {
  const groups = Map.groupBy(collections, ({ apiVersion }) => groupOf(apiVersion));
  return [...groups].map(([group, members]) => ({
    apiGroups: [group],
    resources: members.map(({ plural }) => plural),
    verbs: ['get', 'list'],
  }));
}
