import { isRecord } from '../../lib/base/json.ts';
import { builtInGroups } from '../../lib/clients/kube/built-in-groups.ts';
import { groupOf } from '../../lib/clients/kube/kind-name.ts';
import type { Manifest } from '../../lib/clients/kube/manifest-decoding.ts';
import { PLACEHOLDER } from '../../lib/config/file/placeholder.ts';

/** The whole value, so that whoever reads it gets nothing else. `$` within belongs to a language at run time. */
const NOTHING_ELSE = /^\s*(?:\{\{[^{}$]*\}\}|\$\{[A-Za-z_][\w.-]*\})\s*$/;
/** Their values are texts for other programs, with placeholders of their own. */
const TEXT_KINDS: ReadonlySet<string> = new Set(['ConfigMap', 'Secret']);
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
    found({ apiVersion, kind: object.kind, metadata: identity }, '', true) ??
    (isJudged ? found(rest, '', false) : undefined)
  );
}

/** The path of a value. `strict`: a part of it counts, too. */
function found(value: unknown, path: string, strict: boolean): string | undefined {
  if (typeof value === 'string') {
    return (strict ? PLACEHOLDER : NOTHING_ELSE).test(value) ? path : undefined;
  }
  if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) {
      const place = found(item, `${path}[${at}]`, strict);
      if (place !== undefined) return place;
    }
    return undefined;
  }
  if (!isRecord(value)) return undefined;
  for (const [key, inside] of Object.entries(value)) {
    const below = path === '' ? key : `${path}.${key}`;
    if (PLACEHOLDER.test(key)) return below;
    const place = found(inside, below, strict || NEVER_A_PART.has(key));
    if (place !== undefined) return place;
  }
  return undefined;
}
