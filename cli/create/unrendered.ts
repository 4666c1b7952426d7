import { isRecord } from '../../lib/base/json.ts';
import { builtInGroups } from '../../lib/clients/kube/built-in-groups.ts';
import { groupOf } from '../../lib/clients/kube/kind-name.ts';
import type { Manifest } from '../../lib/clients/kube/manifest-decoding.ts';
import { PLACEHOLDER } from '../../lib/config/file/placeholder.ts';

/** The whole value, so that whoever reads it gets nothing else. `$` within belongs to a language at run time. */
const NOTHING_ELSE = /^\s*(?:\{\{[^{}$]*\}\}|\$\{[A-Za-z_][\w.-]*\})\s*$/;
/** Their values are texts for other programs, with placeholders of their own. */
const TEXT_KINDS: ReadonlySet<string> = new Set(['ConfigMap', 'Secret']);
/**
 * Whose texts are for others, which may have placeholders of their own: provisioners of storage, containers, whoever reads
 * an annotation or the schema of a definition.
 */
const OF_OTHERS: ReadonlySet<string> = new Set([
  ...['parameters', 'volumeAttributes', 'volumeHandle', 'env', 'args', 'command', 'annotations'],
  ...['message', 'messageExpression', 'schema'],
]);
/** Helm's own objects and functions: nothing else calls them so. */
const OF_HELM = /^\s*\{\{-?\s*(?:\.(?:Values|Release|Chart)\.|(?:include|template)\s+")/;
/** How a value is judged: a placeholder as a part of it, as the whole of it, or one of Helm as the whole. */
type Way = 'part' | 'whole' | 'helm';
const WAYS: Readonly<Record<Way, RegExp>> = {
  ...{ part: PLACEHOLDER, whole: NOTHING_ELSE, helm: OF_HELM },
};
/** Fields in which no part can be a placeholder: names, references, and what selects objects. */
const NEVER_A_PART: ReadonlySet<string> = new Set([
  ...['name', 'namespace', 'image', 'labels', 'matchLabels', 'nodeSelector', 'selector'],
  ...['serviceAccountName', 'storageClassName', 'host', 'apiVersion', 'kind'],
]);

/**
 * The path of the first value that a template engine should have filled in; undefined if there is none. Of kinds that
 * Kubernetes does not define only the identity is judged: many have templates of their own.
 */
export function unrendered({
  object,
  kind,
}: Pick<Manifest, 'object' | 'kind'>): string | undefined {
  const { apiVersion, metadata, ...rest } = object;
  const { annotations: _, ...identity } = isRecord(metadata) ? metadata : {};
  const isJudged =
    typeof apiVersion === 'string' &&
    builtInGroups.has(groupOf(apiVersion)) &&
    !TEXT_KINDS.has(kind);
  return (
    found({ apiVersion, kind: object.kind, metadata: identity }, '', 'part') ??
    (isJudged ? found(rest, '', 'whole') : undefined)
  );
}

/** The path of a value. */
function found(value: unknown, path: string, way: Way): string | undefined {
  if (typeof value === 'string') return WAYS[way].test(value) ? path : undefined;
  if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) {
      const place = found(item, `${path}[${at}]`, way);
      if (place !== undefined) return place;
    }
    return undefined;
  }
  if (!isRecord(value)) return undefined;
  for (const [key, inside] of Object.entries(value)) {
    const below = path === '' ? key : `${path}.${key}`;
    if (way !== 'helm' && PLACEHOLDER.test(key)) return below;
    const place = found(inside, below, wayOf(key, way));
    if (place !== undefined) return place;
  }
  return undefined;
}

function wayOf(key: string, above: Way): Way {
  if (above === 'whole' && OF_OTHERS.has(key)) return 'helm';
  // A variable's reference to a Secret, or to a field.
  if (above === 'helm' && key === 'valueFrom') return 'part';
  return above === 'whole' && NEVER_A_PART.has(key) ? 'part' : above;
}
