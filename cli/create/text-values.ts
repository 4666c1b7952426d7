import { isRawJson } from '../../lib/base/go-yaml/raw-json.ts';
import { isBase64 } from '../../lib/base/go-yaml/scalar.ts';
import { isRecord } from '../../lib/base/json.ts';
import type { Manifest } from '../../lib/clients/kube/manifest-decoding.ts';

type Path = readonly string[];

/** Mappings whose values are texts: of every object, and of some kinds of the core group. `base64`: what they are the code of. */
const OF_ALL: readonly { readonly path: Path; readonly base64?: true }[] = [
  { path: ['metadata', 'labels'] },
  { path: ['metadata', 'annotations'] },
];
const OF_KIND: Readonly<Record<string, typeof OF_ALL>> = {
  ConfigMap: [{ path: ['data'] }, { path: ['binaryData'], base64: true }],
  Secret: [{ path: ['stringData'] }, { path: ['data'], base64: true }],
};

/**
 * The first value that the API would refuse since it is no text, such as a port that YAML takes for a number; undefined if
 * there is none. Values may be secrets, and are not shown.
 */
export function otherThanText({
  object,
  apiVersion,
  kind,
}: Pick<Manifest, 'object' | 'apiVersion' | 'kind'>): string | undefined {
  const ofKind = apiVersion === 'v1' && Object.hasOwn(OF_KIND, kind) ? (OF_KIND[kind] ?? []) : [];
  for (const { path, base64 } of [...OF_ALL, ...ofKind]) {
    for (const [key, value] of Object.entries(mappingAt(object, path))) {
      const wrong = base64 === true ? noBase64(value) : noText(value);
      if (wrong !== undefined) return `${[...path, key].join('.')}: ${wrong}`;
    }
  }
  return undefined;
}

/** The API takes nothing for an empty text. */
function noText(value: unknown): string | undefined {
  if (value === null || typeof value === 'string') return undefined;
  const isNumber = typeof value === 'number' || isRawJson(value);
  if (!isNumber && typeof value !== 'boolean') {
    return 'expected a text, found a mapping or a list. Write it as a text, such as after "|".';
  }
  return `expected a text, found ${isNumber ? 'a number' : 'true or false'}. Put it in quotes.`;
}

function noBase64(value: unknown): string | undefined {
  if (typeof value !== 'string') return noText(value);
  if (isBase64(value)) return undefined;
  return 'expected base64, found another text. Encode it, or move it to the field for texts.';
}

function mappingAt(object: unknown, path: Path): Record<string, unknown> {
  const value = path.reduce<unknown>((at, name) => (isRecord(at) ? at[name] : undefined), object);
  return isRecord(value) ? value : {};
}
