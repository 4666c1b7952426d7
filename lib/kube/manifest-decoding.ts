import { type Document, isNode, isScalar, type Node, type Tags, visit } from 'yaml';
import { z } from 'zod';
import { describeError } from '../errors/failure.ts';
import { parseDocuments } from './parse-documents.ts';

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

const manifestSchema = z.looseObject({
  apiVersion: z.string().min(1),
  kind: z.string().min(1),
  metadata: z.looseObject({
    name: z.string({ error: 'is required: each object is created once, by its name' }).min(1),
    namespace: z.string().min(1).optional(),
  }),
});
const listSchema = z.looseObject({
  apiVersion: z.string(),
  kind: z.string().endsWith('List'),
  items: z.array(z.unknown()),
});

/** Every manifest in a file's text and every document that is not one; lists are split. */
export function decodeManifests(file: string, text: string): DecodedManifests {
  const decoded: DecodedManifests = { manifests: [], undecodable: [] };
  const { documents, lines } = parseDocuments(text, {
    // The API's own decoder follows YAML 1.1, where `0644` is octal and `yes` is true.
    version: '1.1',
    customTags: withoutTimes,
    // The parser's own check compares each key with all keys before it: minutes for a large map.
    uniqueKeys: false,
    prettyErrors: false,
  });
  for (const [index, document] of documents.entries()) {
    const lineOf = (offset: number) => lines.linePos(offset).line;
    const place = { file, document: index + 1, line: lineOf(offsetOf(document.contents)) };
    const [error = repeatedKey(document) ?? tooManyAliases(document)] = document.errors;
    if (error === undefined) {
      const object = toObject(() => document.toJS());
      addObject(decoded, place, object.value, object.reason);
    } else {
      const line = lineOf(error.pos[0]);
      decoded.undecodable.push({ ...place, line, reason: reasonOf(error.message) });
    }
  }
  return decoded;
}

interface DocumentError {
  readonly message: string;
  /** Where in the text. */
  readonly pos: readonly [number];
}

/** The offset at which a node of the text begins; 0 for a document without content. */
function offsetOf(node: unknown): number {
  return (isNode(node) && node.range?.[0]) || 0;
}

/** The first duplicate key of a map: one of its values would be lost without notice. */
function repeatedKey(document: Document): DocumentError | undefined {
  let found: DocumentError | undefined;
  visit(document, {
    Map(_key, { items }) {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        const name = isScalar(key) ? key.value : key;
        if (seen.has(name)) {
          found = { message: 'Map keys must be unique', pos: [offsetOf(key)] };
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

function tooManyAliases(document: Document): DocumentError | undefined {
  const aliases: Node[] = [];
  visit(document, {
    Alias(_key, alias) {
      aliases.push(alias);
    },
  });
  const first = aliases[MAX_ALIASES];
  if (first === undefined) return undefined;
  return { message: `more than ${MAX_ALIASES} aliases`, pos: [offsetOf(first)] };
}

type Place = Pick<Manifest, 'file' | 'document' | 'line'>;

function addObject(decoded: DecodedManifests, place: Place, value: unknown, reason?: string): void {
  if (reason !== undefined) {
    decoded.undecodable.push({ ...place, reason });
    return;
  }
  if (value === null) return;
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
      ({ path, message }) => `${path.length === 0 ? 'the document' : path.join('.')}: ${message}`,
    )
    .join('; ');
}

/** The API's decoder knows neither base-60 numbers (`22:22`) nor dates: they remain text. */
function withoutTimes(tags: Tags): Tags {
  return tags.filter((tag) => typeof tag === 'string' || !isTime(tag));
}

function isTime(tag: Exclude<Tags[number], string>): boolean {
  return tag.tag === 'tag:yaml.org,2002:timestamp' || ('format' in tag && tag.format === 'TIME');
}
