import { z } from 'zod';
import { describeError } from '../../base/errors/failure.ts';
import { schemaWords } from '../../base/errors/schema-words.ts';
import { readGoDocuments } from '../../base/go-yaml/read.ts';

/** The namespace of manifests without one, if their kind is namespaced. */
export const DEFAULT_NAMESPACE = 'default';

/** One object to apply, and where it was read. */
export interface Manifest {
  readonly file: string;
  /** Position of its document in the file, from 1; empty documents count. */
  readonly document: number;
  /** Line of the file on which its document begins, from 1. */
  readonly line: number;
  readonly apiVersion: string;
  readonly kind: string;
  /** As written; undefined where the manifest leaves it to the API. */
  readonly namespace: string | undefined;
  readonly name: string;
  /** The whole object, ready to be sent. */
  readonly object: Readonly<Record<string, unknown>>;
}

/** A document, or a whole file, that is not a manifest. */
export interface UndecodableManifest {
  readonly file: string;
  readonly document: number;
  readonly line: number;
  readonly reason: string;
}

export interface DecodedManifests {
  readonly manifests: Manifest[];
  readonly undecodable: UndecodableManifest[];
}

const text = (what: string) =>
  z.string({ error: `expected ${what}` }).min(1, { error: `expected ${what}` });

const manifestSchema = z.looseObject(
  {
    apiVersion: text('the version of an API, such as v1'),
    kind: text('the kind of an object, such as ConfigMap'),
    metadata: z.looseObject(
      {
        name: z
          .string({
            error: ({ input }) =>
              ['number', 'boolean'].includes(typeof input)
                ? 'expected a text. Put it in quotes'
                : 'is required: each object is created once, by its name',
          })
          .min(1),
        namespace: z
          .string({ error: 'expected the name of one. Leave it out for none' })
          .min(1)
          .optional(),
      },
      { error: 'expected a mapping with the name of the object' },
    ),
  },
  { error: 'expected a mapping, one object of Kubernetes' },
);
const listSchema = z.looseObject({
  apiVersion: z.string(),
  kind: z.string().endsWith('List'),
  items: z.array(z.unknown()),
});

/**
 * Every manifest in a file's text and every document that is not one; lists are split. Values are those
 * that kubectl would send (lib/base/go-yaml/read.ts).
 */
export function decodeManifests(file: string, text: string): DecodedManifests {
  const decoded: DecodedManifests = { manifests: [], undecodable: [] };
  for (const [index, document] of readGoDocuments(text).entries()) {
    const place = { file, document: index + 1, line: document.line };
    if ('fault' in document) decoded.undecodable.push({ ...place, reason: document.fault });
    else addObject(decoded, place, document.value);
  }
  return decoded;
}

type Place = Pick<Manifest, 'file' | 'document' | 'line'>;

function addObject(decoded: DecodedManifests, place: Place, value: unknown): void {
  if (value === null) return;
  const list = listSchema.safeParse(value);
  if (list.success) {
    for (const item of list.data.items) addObject(decoded, place, typedItem(list.data, item));
    return;
  }
  if (isKustomization(place.file, value)) {
    decoded.undecodable.push({ ...place, reason: OF_KUSTOMIZE });
    return;
  }
  const parsed = manifestSchema.safeParse(value);
  if (parsed.success) {
    const { apiVersion, kind, metadata } = parsed.data;
    const { name, namespace } = metadata;
    decoded.manifests.push({ ...place, apiVersion, kind, namespace, name, object: parsed.data });
  } else {
    decoded.undecodable.push({ ...place, reason: explain(parsed.error) });
  }
}

const OF_KUSTOMIZE =
  'the document: expected an object of the cluster, found a file for "kubectl kustomize". Put what "kubectl kustomize FOLDER" prints here instead of it';
const KUSTOMIZATION_FILE = /(?:^|\/)kustomization\.ya?ml$/;
const kustomizationSchema = z.looseObject({
  apiVersion: z.string().optional(),
  kind: z.string().optional(),
});

/** Its file mostly has neither a version nor a kind; Flux has objects of this kind in a group of its own. */
function isKustomization(file: string, value: unknown): boolean {
  const { success, data } = kustomizationSchema.safeParse(value);
  if (!success) return false;
  const { apiVersion, kind } = data;
  if (apiVersion !== undefined) return apiVersion.startsWith('kustomize.config.k8s.io/');
  return kind === 'Kustomization' || (kind === undefined && KUSTOMIZATION_FILE.test(file));
}

/** Items of a typed list (`ConfigMapList`) may leave their kind to the list. */
function typedItem(list: z.infer<typeof listSchema>, item: unknown): unknown {
  const object = z.looseObject({}).safeParse(item);
  if (!object.success || list.kind === 'List') return item;
  return { apiVersion: list.apiVersion, kind: list.kind.slice(0, -'List'.length), ...object.data };
}

/** V8's message, also where the parser wraps it in an error of its own. */
const TOO_DEEP = 'Maximum call stack size exceeded';

/** Why a text cannot be decoded; the parser is recursive. */
export function reasonOf(error: unknown): string {
  const reason = describeError(error);
  return reason === TOO_DEEP ? 'is nested too deeply' : reason;
}

function explain(error: z.ZodError): string {
  return error.issues
    .map(
      (issue) =>
        `${issue.path.length === 0 ? 'the document' : issue.path.join('.')}: ${schemaWords(issue)}`,
    )
    .join('; ');
}
