import { isRawJson } from '../../lib/base/go-yaml/raw-json.ts';
import { isBase64 } from '../../lib/base/go-yaml/scalar.ts';
import { isRecord } from '../../lib/base/json.ts';
import type { KindName } from '../../lib/clients/kube/kind-name.ts';
import type { Manifest } from '../../lib/clients/kube/manifest-decoding.ts';

type Path = readonly string[];

/** A value that is to be a text, and where it is. */
interface Text {
  readonly place: string;
  readonly value: unknown;
  /** The code of something, or a list of texts. */
  readonly as?: 'base64' | 'list';
}

const MATCHED = [{ path: ['spec', 'selector', 'matchLabels'] }];
/** Mappings of some kinds whose values are texts. */
const OF_KIND: Readonly<Record<string, readonly (Pick<Text, 'as'> & { path: Path })[]>> = {
  'v1/ConfigMap': [{ path: ['data'] }, { path: ['binaryData'], as: 'base64' }],
  'v1/Secret': [{ path: ['stringData'] }, { path: ['data'], as: 'base64' }],
  'v1/Service': [{ path: ['spec', 'selector'] }],
  'v1/ReplicationController': [{ path: ['spec', 'selector'] }],
  'apps/v1/DaemonSet': MATCHED,
  'apps/v1/Deployment': MATCHED,
  'apps/v1/ReplicaSet': MATCHED,
  'apps/v1/StatefulSet': MATCHED,
  'networking.k8s.io/v1/NetworkPolicy': [{ path: ['spec', 'podSelector', 'matchLabels'] }],
  'policy/v1/PodDisruptionBudget': MATCHED,
  'storage.k8s.io/v1/StorageClass': [{ path: ['parameters'] }],
};

const TEMPLATE = ['spec', 'template'];
/** Where the kinds of Kubernetes that make pods have the pod. */
const POD: Readonly<Record<string, Path>> = {
  'v1/Pod': [],
  'v1/PodTemplate': ['template'],
  'v1/ReplicationController': TEMPLATE,
  'apps/v1/DaemonSet': TEMPLATE,
  'apps/v1/Deployment': TEMPLATE,
  'apps/v1/ReplicaSet': TEMPLATE,
  'apps/v1/StatefulSet': TEMPLATE,
  'batch/v1/CronJob': ['spec', 'jobTemplate', ...TEMPLATE],
  'batch/v1/Job': TEMPLATE,
};

/** Where an object of this kind has its pod, or the template of it; undefined if it has none. */
export function podPathOf({ apiVersion, kind }: KindName): Path | undefined {
  const name = `${apiVersion}/${kind}`;
  return Object.hasOwn(POD, name) ? POD[name] : undefined;
}

/**
 * The first value that the API would refuse since it is no text, such as a port that YAML takes for a number; undefined if
 * there is none. Values may be secrets, and are not shown.
 */
export function otherThanText(
  manifest: Pick<Manifest, 'object' | 'apiVersion' | 'kind'>,
): string | undefined {
  for (const { place, value, as } of textsOf(manifest)) {
    const wrong = as === undefined ? noText(value) : OTHERWISE[as](value);
    if (wrong !== undefined) return `${place}: ${wrong}`;
  }
  return undefined;
}

function* textsOf({
  object,
  apiVersion,
  kind,
}: Pick<Manifest, 'object' | 'apiVersion' | 'kind'>): Generator<Text> {
  yield* ofObject(object, []);
  const name = `${apiVersion}/${kind}`;
  const ofKind = Object.hasOwn(OF_KIND, name) ? (OF_KIND[name] ?? []) : [];
  for (const { path, ...how } of ofKind) {
    for (const text of inMapping(object, path)) yield { ...text, ...how };
  }
  const pod = podPathOf({ apiVersion, kind });
  if (pod === undefined) return;
  if (pod.length > 0) yield* ofObject(object, pod);
  yield* inMapping(object, [...pod, 'spec', 'nodeSelector']);
  for (const list of ['initContainers', 'containers']) {
    const path = [...pod, 'spec', list];
    for (const [at, container] of listAt(object, path).entries()) {
      yield* ofContainer(container, `${path.join('.')}[${at}]`);
    }
  }
}

function* ofObject(object: unknown, path: Path): Generator<Text> {
  yield* inMapping(object, [...path, 'metadata', 'labels']);
  yield* inMapping(object, [...path, 'metadata', 'annotations']);
}

function* ofContainer(container: unknown, place: string): Generator<Text> {
  for (const list of ['command', 'args']) {
    yield { place: `${place}.${list}`, value: valueAt(container, [list]), as: 'list' };
    for (const [at, value] of listAt(container, [list]).entries()) {
      yield { place: `${place}.${list}[${at}]`, value };
    }
  }
  for (const [at, one] of listAt(container, ['env']).entries()) {
    const value = valueAt(one, ['value']);
    if (value !== undefined) yield { place: `${place}.env[${at}].value`, value };
  }
}

function* inMapping(object: unknown, path: Path): Generator<Text> {
  const mapping = valueAt(object, path);
  for (const [key, value] of Object.entries(isRecord(mapping) ? mapping : {})) {
    yield { place: [...path, key].join('.'), value };
  }
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

function noList(value: unknown): string | undefined {
  if (value === undefined || value === null || Array.isArray(value)) return undefined;
  return 'expected a list, found another value. Write it as ["sh", "-c", "..."].';
}

const OTHERWISE = { base64: noBase64, list: noList };

function valueAt(object: unknown, path: Path): unknown {
  return path.reduce<unknown>((at, name) => (isRecord(at) ? at[name] : undefined), object);
}

function listAt(object: unknown, path: Path): readonly unknown[] {
  const value = valueAt(object, path);
  return Array.isArray(value) ? value : [];
}
