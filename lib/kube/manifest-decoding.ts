import {
  type Document,
  isAlias,
  isNode,
  isScalar,
  LineCounter,
  parseAllDocuments,
  type Tags,
  visit,
} from 'yaml';
import { z } from 'zod';
import { describeError } from '../errors/failure.ts';

/** One object to apply, and where it was written. */
export interface Manifest {
  readonly file: string;
  /** Counts the documents of its file from 1, those without content included. */
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

const manifestSchema = z.looseObject({
  apiVersion: z.string().min(1),
  kind: z.string().min(1),
  metadata: z.looseObject({
    name: z.string({ error: 'must be given: an object is created once, by its name' }).min(1),
    namespace: z.string().min(1).optional(),
  }),
});
const listSchema = z.looseObject({
  apiVersion: z.string(),
  kind: z.string().endsWith('List'),
  items: z.array(z.unknown()),
});

/** Every manifest of a file's text and every document that is none; lists are taken apart. */
export function decodeManifests(file: string, text: string): DecodedManifests {
  const lines = new LineCounter();
  const decoded: DecodedManifests = { manifests: [], undecodable: [] };
  const documents = parseAllDocuments(text, {
    // The API's own reader follows YAML 1.1, where `0644` is octal and `yes` is true.
    version: '1.1',
    customTags: withoutTimes,
    // The reader's own check compares each key with all before it: minutes, for a large map.
    uniqueKeys: false,
    lineCounter: lines,
    prettyErrors: false,
  });
  if (!Array.isArray(documents)) return decoded;
  for (const [index, document] of documents.entries()) {
    const start = document.contents?.range?.[0] ?? document.range[0];
    const place = { file, document: index + 1, line: lines.linePos(start).line };
    const [error = repeatedKey(document) ?? tooManyAliases(document)] = document.errors;
    if (error === undefined) {
      const object = toObject(() => document.toJS());
      addObject(decoded, place, object.value, object.reason);
    } else {
      const line = lines.linePos(error.pos[0]).line;
      decoded.undecodable.push({ ...place, line, reason: reasonOf(error.message) });
    }
  }
  return decoded;
}

/** The first key that a map has twice: one of its values would be lost in silence. */
function repeatedKey(document: Document): { message: string; pos: readonly [number] } | undefined {
  let found: { message: string; pos: readonly [number] } | undefined;
  visit(document, {
    Map(_key, { items }) {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        const name = isScalar(key) ? key.value : key;
        if (seen.has(name)) {
          const at = isNode(key) ? (key.range?.[0] ?? 0) : 0;
          found = { message: 'Map keys must be unique', pos: [at] };
          return visit.BREAK;
        }
        seen.add(name);
      }
      return undefined;
    },
  });
  return found;
}

/** Each alias is looked up from the start of its document: tens of thousands would take minutes. */
const MAX_ALIASES = 200;

function tooManyAliases(
  document: Document,
): { message: string; pos: readonly [number] } | undefined {
  let count = 0;
  let at = 0;
  visit(document, {
    Alias(_key, node) {
      count += 1;
      at = isAlias(node) ? (node.range?.[0] ?? 0) : 0;
      return count > MAX_ALIASES ? visit.BREAK : undefined;
    },
  });
  if (count <= MAX_ALIASES) return undefined;
  return { message: `more than ${MAX_ALIASES} aliases`, pos: [at] };
}

type Place = Pick<Manifest, 'file' | 'document' | 'line'>;

function addObject(decoded: DecodedManifests, place: Place, value: unknown, reason?: string): void {
  if (reason !== undefined) {
    decoded.undecodable.push({ ...place, reason });
    return;
  }
  if (value === null || value === undefined) return;
  const list = listSchema.safeParse(value);
  if (list.success) {
    for (const item of list.data.items) addObject(decoded, place, typedItem(list.data, item));
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

/** Items of a typed list (`ConfigMapList`) may leave their kind to the list. */
function typedItem(list: z.infer<typeof listSchema>, item: unknown): unknown {
  const object = z.looseObject({}).safeParse(item);
  if (!object.success || list.kind === 'List') return item;
  return { apiVersion: list.apiVersion, kind: list.kind.slice(0, -'List'.length), ...object.data };
}

function toObject(convert: () => unknown): { value?: unknown; reason?: string } {
  try {
    return { value: convert() };
  } catch (error) {
    return { reason: reasonOf(error) };
  }
}

/** What V8 says, also where the reader has made an error of its own of it. */
const TOO_DEEP = 'Maximum call stack size exceeded';

/** Why a text cannot be decoded: the reader calls itself for each level. */
export function reasonOf(error: unknown): string {
  const reason = describeError(error);
  return reason === TOO_DEEP ? 'is nested too deeply' : reason;
}

function explain(error: z.ZodError): string {
  return error.issues
    .map(
      ({ path, message }) => `${path.length === 0 ? 'the document' : path.join('.')}: ${message}`,
    )
    .join('; ');
}

/** The API's reader knows neither base-60 numbers (`22:22`) nor dates: they stay text. */
function withoutTimes(tags: Tags): Tags {
  return tags.filter((tag) => typeof tag === 'string' || !isTime(tag));
}

function isTime(tag: Exclude<Tags[number], string>): boolean {
  return tag.tag === 'tag:yaml.org,2002:timestamp' || ('format' in tag && tag.format === 'TIME');
}
