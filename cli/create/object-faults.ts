import { isRecord } from '../../lib/base/json.ts';
import { builtInGroups } from '../../lib/clients/kube/built-in-groups.ts';
import { groupOf } from '../../lib/clients/kube/kind-name.ts';
import type { Manifest } from '../../lib/clients/kube/manifest-decoding.ts';
import { DNS_LABEL, isSubdomain } from '../../lib/config/site/names.ts';
import { isLabelValue, isQualifiedName } from '../../lib/config/site-config/fields.ts';

type Given = Pick<Manifest, 'object' | 'apiVersion' | 'kind' | 'name' | 'namespace'>;

/** The first thing about the object itself that no API accepts, whatever its fields are; undefined if there is none. */
export function objectFault(manifest: Given): string | undefined {
  return (
    encryptedFault(manifest) ??
    kindFault(manifest) ??
    nameFault(manifest) ??
    labelFault(manifest) ??
    selectorFault(manifest) ??
    secretFault(manifest) ??
    definitionFault(manifest)
  );
}

/** Kinds of Kubernetes by the only version that serves them, that of all supported releases. */
const HOMES: Readonly<Record<string, readonly string[]>> = {
  v1: [
    ...['ConfigMap', 'Endpoints', 'LimitRange', 'Namespace', 'Node', 'PersistentVolume'],
    ...['PersistentVolumeClaim', 'Pod', 'PodTemplate', 'ReplicationController', 'ResourceQuota'],
    ...['Secret', 'Service', 'ServiceAccount'],
  ],
  'apps/v1': ['ControllerRevision', 'DaemonSet', 'Deployment', 'ReplicaSet', 'StatefulSet'],
  'batch/v1': ['CronJob', 'Job'],
  'policy/v1': ['PodDisruptionBudget'],
  'networking.k8s.io/v1': ['Ingress', 'IngressClass', 'NetworkPolicy'],
  'rbac.authorization.k8s.io/v1': ['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'],
  'storage.k8s.io/v1': ['CSIDriver', 'StorageClass'],
  'scheduling.k8s.io/v1': ['PriorityClass'],
  'node.k8s.io/v1': ['RuntimeClass'],
  'apiextensions.k8s.io/v1': ['CustomResourceDefinition'],
  'apiregistration.k8s.io/v1': ['APIService'],
};
const HOME_OF = new Map(
  Object.entries(HOMES).flatMap(([apiVersion, kinds]) =>
    kinds.map((kind) => [kind.toLowerCase(), { apiVersion, kind }] as const),
  ),
);

/** Of Kubernetes until 1.21. */
const FORMER_GROUP = 'extensions';

const isKubernetes = (group: string): boolean => builtInGroups.has(group) || group === FORMER_GROUP;

/** A kind in another group, in a version that is no longer served, or in other letters: the API would be asked for it until the deadline. */
function kindFault({ apiVersion, kind }: Given): string | undefined {
  const home = isKubernetes(groupOf(apiVersion)) ? HOME_OF.get(kind.toLowerCase()) : undefined;
  if (home === undefined || (home.apiVersion === apiVersion && home.kind === kind))
    return undefined;
  return `kind: expected ${home.kind} of ${home.apiVersion}, found ${kind} of ${apiVersion}. Write apiVersion: ${home.apiVersion} and kind: ${home.kind}, and see whether the fields are those of that version.`;
}

/** Kinds whose names may have colons and capital letters: the API asks for a part of a path (compared with a real one in `test/integration/object-faults.test.ts`). */
const FREELY_NAMED =
  /^(?:rbac\.authorization\.k8s\.io|certificates\.k8s\.io|policy)\/|\/(?:IPAddress|Event)$/;
/** The names of these are parts of domains. */
const LABELS = ['v1/Namespace', 'v1/Service', 'apps/v1/StatefulSet'];
/** Its jobs have eleven characters more. */
const LONGEST_CRON_JOB = 52;

/** apimachinery, api/validation: of other APIs every name that can be part of a path may be right. */
function nameFault({ apiVersion, kind, name, namespace }: Given): string | undefined {
  if (namespace !== undefined && !(DNS_LABEL.test(namespace) && namespace.length <= 63)) {
    return `metadata.namespace: expected at most 63 characters of a-z, 0-9 and "-", found ${shown(namespace)}. Rename it.`;
  }
  const id = `${apiVersion}/${kind}`;
  if (!builtInGroups.has(groupOf(apiVersion)) || FREELY_NAMED.test(id)) {
    const isPart = !/[/%]/.test(name) && !['.', '..'].includes(name);
    return isPart
      ? undefined
      : `metadata.name: expected a name without "/" and "%", found ${shown(name)}. Rename it.`;
  }
  if (LABELS.includes(id)) {
    return DNS_LABEL.test(name)
      ? undefined
      : `metadata.name: expected at most 63 characters of a-z, 0-9 and "-", found ${shown(name)}. Rename it.`;
  }
  if (kind === 'CronJob' && name.length > LONGEST_CRON_JOB) {
    return `metadata.name: expected at most ${LONGEST_CRON_JOB} characters, found ${name.length}. Rename it.`;
  }
  return isSubdomain(name)
    ? undefined
    : `metadata.name: expected at most 253 characters of a-z, 0-9, "-" and ".", found ${shown(name)}. Rename it.`;
}

function labelFault({ object }: Given): string | undefined {
  const metadata = isRecord(object.metadata) ? object.metadata : {};
  for (const name of ['labels', 'annotations']) {
    const given = metadata[name];
    if (given === undefined || given === null) continue;
    const place = `metadata.${name}`;
    if (!isRecord(given)) {
      return `${place}: expected a mapping, found ${Array.isArray(given) ? 'a list' : 'another value'}. Write it as {example.com/site: "0042"}.`;
    }
    for (const [key, value] of Object.entries(given)) {
      // Only of annotations the API takes capital letters for small ones.
      if (!isQualifiedName(name === 'labels' ? key : key.toLowerCase())) {
        return `${place}: expected a key such as example.com/site, found ${shown(key)}. Rename it.`;
      }
      if (name === 'labels' && typeof value === 'string' && !isLabelValue(value)) {
        return `${place}.${key}: expected at most 63 letters, digits, "-", "_" and ".", found ${shown(value)}. Put other texts into annotations.`;
      }
    }
  }
  return undefined;
}

/** What sops adds at the top level of a kind that the API itself serves. Resources of operators may have it by design. */
function encryptedFault({ object, apiVersion }: Given): string | undefined {
  const isEncrypted =
    builtInGroups.has(groupOf(apiVersion)) && isRecord(object.sops) && 'mac' in object.sops;
  return isEncrypted
    ? 'sops: expected a manifest, found one that sops has encrypted. Decrypt it: sops --decrypt FILE.'
    : undefined;
}

/** A workload that would not select its own pods. */
function selectorFault({ object, apiVersion, kind }: Given): string | undefined {
  if (apiVersion !== 'apps/v1' || kind === 'ControllerRevision') return undefined;
  const matched = recordAt(object, ['spec', 'selector', 'matchLabels']);
  const labels = recordAt(object, ['spec', 'template', 'metadata', 'labels']);
  const other = Object.entries(matched).find(([key, value]) => labels[key] !== value);
  if (other === undefined) return undefined;
  return `spec.template.metadata.labels: expected the labels of spec.selector.matchLabels, found ${shown(other[0])} otherwise. Write the same in both places.`;
}

/** What the types of Secrets need. */
const KEYS_OF: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['kubernetes.io/tls', ['tls.crt', 'tls.key']],
  ['kubernetes.io/dockerconfigjson', ['.dockerconfigjson']],
  ['kubernetes.io/ssh-auth', ['ssh-privatekey']],
]);

function secretFault({ object, apiVersion, kind }: Given): string | undefined {
  if (apiVersion !== 'v1' || kind !== 'Secret') return undefined;
  const given = { ...recordAt(object, ['data']), ...recordAt(object, ['stringData']) };
  const missing = (KEYS_OF.get(object.type) ?? []).find((key) => !Object.hasOwn(given, key));
  if (missing === undefined) return undefined;
  return `data: expected the key ${missing} in a Secret of type ${object.type}, found none. Add it, or write type: Opaque.`;
}

/** The API finds a definition by its name. */
function definitionFault({ object, kind, apiVersion, name }: Given): string | undefined {
  if (kind !== 'CustomResourceDefinition' || !apiVersion.startsWith('apiextensions.k8s.io/')) {
    return undefined;
  }
  const { plural } = recordAt(object, ['spec', 'names']);
  const { group } = recordAt(object, ['spec']);
  const expected = `${plural}.${group}`;
  if (typeof plural !== 'string' || typeof group !== 'string' || name === expected)
    return undefined;
  return `metadata.name: expected spec.names.plural and spec.group, which are ${shown(expected)}, found ${shown(name)}. Rename it.`;
}

function recordAt(object: unknown, path: readonly string[]): Record<string, unknown> {
  const value = path.reduce<unknown>((at, name) => (isRecord(at) ? at[name] : undefined), object);
  return isRecord(value) ? value : {};
}

const shown = (text: string): string => JSON.stringify(text.slice(0, 80));

/** That every API server has, and that of an add-on. */
const NAMESPACES = [
  'default',
  'kube-system',
  'kube-public',
  'kube-node-lease',
  'local-path-storage',
];

/** Of these the API reads over a namespace. */
const OF_CLUSTER: readonly string[] = [
  ...['Namespace', 'Node', 'PersistentVolume', 'IngressClass', 'ClusterRole', 'StorageClass'],
  ...['ClusterRoleBinding', 'CSIDriver', 'PriorityClass', 'RuntimeClass', 'APIService'],
  'CustomResourceDefinition',
];

const isNamespaced = ({ apiVersion, kind }: Given): boolean =>
  HOME_OF.get(kind.toLowerCase())?.apiVersion === apiVersion && !OF_CLUSTER.includes(kind);

/** Manifests of known kinds in a namespace that nobody makes: each would be tried until the deadline. */
export function withoutNamespace(manifests: readonly Manifest[]): Manifest[] {
  const made = manifests.filter(
    ({ apiVersion, kind }) => apiVersion === 'v1' && kind === 'Namespace',
  );
  const known = new Set([...NAMESPACES, ...made.map(({ name }) => name)]);
  return manifests.filter(
    (each) => each.namespace !== undefined && !known.has(each.namespace) && isNamespaced(each),
  );
}
