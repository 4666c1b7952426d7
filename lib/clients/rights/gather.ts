import type { KubernetesObject, V1PolicyRule } from '@kubernetes/client-node';
/**
 * The rights for gathering a log bundle on the installed host. No stored identity
 * has them: the host has the CA that signs clients, and a certificate is signed in
 * memory for each bundle.
 */
import { groupOf } from '../kube/kind-name.ts';
import {
  builtInCollections,
  type Collection,
  openshiftCollections,
  wholeGroups,
} from './collections.ts';
import { groupSubject, rbacBinding, rbacRole } from './rbac.ts';

/** The name of the user, its group, the role, and the binding of the role to the group. */
export const gatherIdentity = 'sno-agents:gather';

/**
 * May list the objects of a bundle and read container logs. No Secrets: listing
 * their names also reveals their values, and the names can be read from etcd's
 * keys. No proxy to nodes: that is the right to run commands in every container.
 */
export function gatherAccess(): KubernetesObject[] {
  const place = { name: gatherIdentity };
  return [
    rbacRole(place, [
      ...rulesFor([...builtInCollections, ...openshiftCollections]),
      { apiGroups: wholeGroups.map(groupOf), resources: ['*'], verbs: ['get', 'list'] },
      { apiGroups: [''], resources: ['pods/log'], verbs: ['get'] },
      {
        nonResourceURLs: ['/version', '/livez', '/livez/*', '/readyz', '/readyz/*'],
        verbs: ['get'],
      },
      { nonResourceURLs: ['/api', '/api/*', '/apis', '/apis/*', '/openapi/*'], verbs: ['get'] },
    ]),
    rbacBinding(place, groupSubject(gatherIdentity)),
  ];
}

/** One rule for each API group. */
function rulesFor(collections: readonly Collection[]): V1PolicyRule[] {
  const groups = Map.groupBy(collections, ({ apiVersion }) => groupOf(apiVersion));
  return [...groups].map(([group, members]) => ({
    apiGroups: [group],
    resources: members.map(({ plural }) => plural),
    verbs: ['get', 'list'],
  }));
}
