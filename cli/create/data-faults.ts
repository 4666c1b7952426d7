import { isRecord, parseJson } from '../../lib/base/json.ts';
import type { Manifest } from '../../lib/clients/kube/manifest-decoding.ts';
import { recordAt, shown } from './record-at.ts';

type Given = Pick<Manifest, 'object' | 'apiVersion' | 'kind'>;

/** The fields with data by kind. The API merges those of a Secret: a text is taken instead of its code. */
const FIELDS: Readonly<Record<string, { readonly text: string; readonly code: string }>> = {
  ConfigMap: { text: 'data', code: 'binaryData' },
  Secret: { text: 'stringData', code: 'data' },
};

export const hasData = ({ apiVersion, kind }: Given): boolean =>
  apiVersion === 'v1' && Object.hasOwn(FIELDS, kind);

/** apimachinery, IsConfigMapKey. */
const KEY = /^(?!\.\.)(?!\.$)[-._a-zA-Z0-9]{1,253}$/;
/** core/v1, MaxSecretSize; that of a ConfigMap is the same. */
const MAX_BYTES = 1024 * 1024;

/** What the API refuses in the data of a ConfigMap or a Secret. Values may be secrets, and are not shown. */
export function dataFault(manifest: Given): string | undefined {
  const fields = hasData(manifest) ? FIELDS[manifest.kind] : undefined;
  if (fields === undefined) return undefined;
  const { object, kind } = manifest;
  const texts = recordAt(object, [fields.text]);
  const codes = recordAt(object, [fields.code]);
  for (const [field, mapping] of [
    [fields.text, texts],
    [fields.code, codes],
  ] as const) {
    const wrong = Object.keys(mapping).find((key) => !KEY.test(key));
    if (wrong !== undefined) {
      return `${field}: expected keys of at most 253 letters, digits, "-", "_" and ".", not beginning with "..", found ${shown(wrong)}. Rename it.`;
    }
  }
  const twice = Object.keys(codes).find((key) => Object.hasOwn(texts, key));
  if (kind === 'ConfigMap' && twice !== undefined) {
    return `${fields.code}: expected other keys than in ${fields.text}, found ${shown(twice)} in both. Remove one.`;
  }
  const values = new Map([
    ...Object.entries(codes).map(([key, value]) => [key, bytesOf(value, 'base64')] as const),
    ...Object.entries(texts).map(([key, value]) => [key, bytesOf(value, 'utf8')] as const),
  ]);
  const bytes = [...values.values()].reduce((sum, { length }) => sum + length, 0);
  if (bytes > MAX_BYTES) {
    return `data: expected at most ${MAX_BYTES} bytes in all, found ${bytes}. Divide it among several objects.`;
  }
  return kind === 'Secret' ? typeFault(object, values) : undefined;
}

const bytesOf = (value: unknown, encoding: 'base64' | 'utf8'): Buffer =>
  Buffer.from(typeof value === 'string' ? value : '', encoding);

/** What the types of Secrets need: one of these keys. */
const KEYS_OF: ReadonlyMap<unknown, readonly (readonly string[])[]> = new Map([
  ['kubernetes.io/tls', [['tls.crt'], ['tls.key']]],
  ['kubernetes.io/dockerconfigjson', [['.dockerconfigjson']]],
  ['kubernetes.io/dockercfg', [['.dockercfg']]],
  ['kubernetes.io/ssh-auth', [['ssh-privatekey']]],
  ['kubernetes.io/basic-auth', [['username', 'password']]],
]);
/** In these keys it has to be a mapping, as JSON. */
const JSON_OF: ReadonlyMap<unknown, string> = new Map([
  ['kubernetes.io/dockerconfigjson', '.dockerconfigjson'],
  ['kubernetes.io/dockercfg', '.dockercfg'],
]);
const ACCOUNT = 'kubernetes.io/service-account.name';

function typeFault(
  object: Given['object'],
  values: ReadonlyMap<string, Buffer>,
): string | undefined {
  const { type } = object;
  const missing = (KEYS_OF.get(type) ?? []).find((keys) => !keys.some((key) => values.has(key)));
  if (missing !== undefined) {
    return `data: expected the key ${missing.join(' or ')} in a Secret of type ${type}, found none. Add it, or write type: Opaque.`;
  }
  const config = JSON_OF.get(type);
  if (config !== undefined && !isJsonMapping(values.get(config))) {
    return `data: expected a mapping as JSON in the key ${config}, found another text. Put the file there that "podman login" or "docker login" has written.`;
  }
  if (type === 'kubernetes.io/ssh-auth' && values.get('ssh-privatekey')?.length === 0) {
    return 'data: expected a key in ssh-privatekey, found an empty text. Fill it in, or write type: Opaque.';
  }
  const account = recordAt(object, ['metadata', 'annotations'])[ACCOUNT] ?? '';
  if (type === 'kubernetes.io/service-account-token' && account === '') {
    return `metadata.annotations: expected ${ACCOUNT} in a Secret of type ${type}, found none. Add it, with the name of the ServiceAccount.`;
  }
  return undefined;
}

/** Go takes "null" for an empty mapping. */
function isJsonMapping(bytes: Buffer | undefined): boolean {
  const value = parseJson(bytes?.toString('utf8') ?? '');
  return value === null || isRecord(value);
}
