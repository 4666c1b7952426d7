import { isRecord } from '../../lib/base/json.ts';
import { builtInGroups } from '../../lib/clients/kube/built-in-groups.ts';
import { groupOf } from '../../lib/clients/kube/kind-name.ts';
import type { Manifest } from '../../lib/clients/kube/manifest-decoding.ts';
import { DNS_LABEL, isSubdomain } from '../../lib/config/site/names.ts';
import { isLabelValue, isQualifiedName } from '../../lib/config/site-config/fields.ts';
import { dataFault, hasData } from './data-faults.ts';
import { kindFault } from './kind-faults.ts';
import { recordAt, shown } from './record-at.ts';
import { podPathOf } from './text-values.ts';

type Given = Pick<Manifest, 'object' | 'apiVersion' | 'kind' | 'name' | 'namespace'>;

/** The first thing for which every API refuses the object by itself, or would be asked for it in vain; undefined if there is none. */
export function objectFault(manifest: Given): string | undefined {
  return (
    encryptedFault(manifest) ??
    kindFault(manifest) ??
    nameFault(manifest) ??
    labelFault(manifest) ??
    selectorFault(manifest) ??
    dataFault(manifest) ??
    definitionFault(manifest) ??
    sizeFault(manifest)
  );
}

/** Kinds whose names may have colons and capital letters: the API asks for a part of a path (compared with a real one in `test/integration/object-faults.test.ts`). */
const FREELY_NAMED =
  /^(?:rbac\.authorization\.k8s\.io|certificates\.k8s\.io|policy)\/|\/(?:IPAddress|Event)$/;
/** The names of these are parts of domains. */
const LABELS = ['v1/Namespace', 'v1/Service', 'apps/v1/StatefulSet'];
/** Its jobs have eleven characters more. */
const LONGEST_CRON_JOB = 52;

/** Every API server has them. */
const OF_SYSTEM: readonly string[] = ['system-cluster-critical', 'system-node-critical'];

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
  if (kind === 'PriorityClass' && name.startsWith('system-') && !OF_SYSTEM.includes(name)) {
    return `metadata.name: expected a name that does not begin with "system-", found ${shown(name)}. Rename it.`;
  }
  return isSubdomain(name)
    ? undefined
    : `metadata.name: expected at most 253 characters of a-z, 0-9, "-" and ".", found ${shown(name)}. Rename it.`;
}

/** apimachinery, TotalAnnotationSizeLimitB. */
const MAX_ANNOTATION_BYTES = 256 * 1024;

/** Those of the object, and of the pods that it makes. */
function labelFault(manifest: Given): string | undefined {
  const paths = [['metadata'], [...(podPathOf(manifest) ?? []), 'metadata']];
  for (const path of paths) {
    const metadata = recordAt(manifest.object, path);
    for (const name of ['labels', 'annotations'] as const) {
      const wrong = keysFault(metadata[name], name);
      if (wrong !== undefined) return `${path.join('.')}.${name}${wrong}`;
    }
  }
  return undefined;
}

/** What follows the name of the field. */
function keysFault(given: unknown, name: 'labels' | 'annotations'): string | undefined {
  if (given === undefined || given === null) return undefined;
  if (!isRecord(given)) {
    return `: expected a mapping, found ${Array.isArray(given) ? 'a list' : 'another value'}. Write it as {example.com/site: "0042"}.`;
  }
  for (const [key, value] of Object.entries(given)) {
    // Only of annotations the API takes capital letters for small ones.
    if (!isQualifiedName(name === 'labels' ? key : key.toLowerCase())) {
      return `: expected a key such as example.com/site, found ${shown(key)}. Rename it.`;
    }
    if (name === 'labels' && typeof value === 'string' && !isLabelValue(value)) {
      return `.${key}: expected at most 63 letters, digits, "-", "_" and ".", found ${shown(value)}. Put other texts into annotations.`;
    }
  }
  const bytes = Buffer.byteLength(Object.entries(given).flat().join(''));
  return name === 'labels' || bytes <= MAX_ANNOTATION_BYTES
    ? undefined
    : `: expected at most ${MAX_ANNOTATION_BYTES} bytes in all, found ${bytes}. Leave out what the object does not need, such as kubectl.kubernetes.io/last-applied-configuration.`;
}

/** What sops adds at the top level of a kind that the API itself serves. Resources of operators may have it by design. */
function encryptedFault({ object, apiVersion }: Given): string | undefined {
  const isEncrypted =
    builtInGroups.has(groupOf(apiVersion)) && isRecord(object.sops) && 'mac' in object.sops;
  return isEncrypted
    ? 'sops: expected a manifest, found one that sops has encrypted. Decrypt it: sops --decrypt FILE.'
    : undefined;
}

const hasItems = (value: unknown): boolean => Array.isArray(value) && value.length > 0;

/** A workload that would not select its own pods. */
function selectorFault({ object, apiVersion, kind }: Given): string | undefined {
  if (apiVersion !== 'apps/v1' || kind === 'ControllerRevision') return undefined;
  const selector = recordAt(object, ['spec', 'selector']);
  const matched = recordAt(selector, ['matchLabels']);
  const { matchExpressions } = selector;
  if (Object.keys(matched).length === 0 && !hasItems(matchExpressions)) {
    return 'spec.selector: expected what selects the pods, found nothing. Write the labels of spec.template.metadata.labels as spec.selector.matchLabels.';
  }
  const labels = recordAt(object, ['spec', 'template', 'metadata', 'labels']);
  // Nothing is an empty text, in a key that is there.
  const isSame = (key: string, value: unknown) =>
    Object.hasOwn(labels, key) && (labels[key] ?? '') === (value ?? '');
  const other = Object.entries(matched).find(([key, value]) => !isSame(key, value));
  if (other === undefined) return undefined;
  return `spec.template.metadata.labels: expected the labels of spec.selector.matchLabels, found ${shown(other[0])} otherwise. Write the same in both places.`;
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

/** etcd takes no larger request. */
const MAX_OBJECT_BYTES = 1536 * 1024;

/** Of what is stored as JSON. ConfigMaps and Secrets have a limit of their own; other kinds of Kubernetes are stored in less. */
function sizeFault(manifest: Given): string | undefined {
  const { apiVersion, kind } = manifest;
  const isStoredInLess =
    builtInGroups.has(groupOf(apiVersion)) && kind !== 'CustomResourceDefinition';
  if (isStoredInLess || hasData(manifest)) return undefined;
  const bytes = Buffer.byteLength(JSON.stringify(manifest.object));
  return bytes <= MAX_OBJECT_BYTES
    ? undefined
    : `the object: expected at most ${MAX_OBJECT_BYTES} bytes as JSON, found ${bytes}. Leave out what it does not need, such as descriptions.`;
}
