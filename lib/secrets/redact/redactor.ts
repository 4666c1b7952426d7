import { isRecord } from '../../base/json.ts';
import { Budget } from '../bytes/budget.ts';
import { Effort } from './effort.ts';
import { type JsonPart, JsonValues } from './json-values.ts';
import { KnownSecrets } from './known.ts';
import { wholeLines } from './lines.ts';
import { type Marks, marksWith } from './marks.ts';
import { shallowJson } from './nesting.ts';
import { withoutSecrets } from './structure.ts';
import { STREAM_LIMITS, type TextLimits, type TextMeans, TextRedactor } from './text.ts';
import { TriggerSearch } from './triggers.ts';

/** Bytes in, bytes out, in order; memory does not grow with their number. */
export type Redaction = (chunks: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>;

/** Takes the secrets out of the files of one bundle. Equal secrets get equal marks, `<redacted:1a2b3c4d>`. */
export interface Redactor {
  /** Logs and configuration of any kind: what has no secret in it comes through byte for byte. */
  readonly text: Redaction;
  /** JSON documents: a single one or one for each line, lists of any length. Anything else is treated as text. */
  readonly json: Redaction;
}

/** No shorter JSON has a name and a secret in it. */
const MIN_JSON_BYTES = 8;
/** Of a chunk of JSON, written together: each takes a hundred bytes of memory beside its own. */
const MAX_PARTS = 4096;

/**
 * `key`: random bytes, made for one bundle. `known`: the secrets that this very host holds,
 * found wherever they turn up, also in base64.
 */
export function createRedactor(key: Uint8Array, known: Iterable<string>): Redactor {
  return redactorWith(marksWith(key), known);
}

const allTriggers = new TriggerSearch();

export function redactorWith(
  marks: Marks,
  known: Iterable<string>,
  triggers = allTriggers,
): Redactor {
  const means: TextMeans = {
    known: new KnownSecrets(known, marks),
    triggers,
    marks,
  };

  async function* text(
    chunks: AsyncIterable<Uint8Array>,
    limits = streamLimits(),
  ): AsyncGenerator<Uint8Array> {
    const redactor = new TextRedactor(means, limits);
    for await (const block of wholeLines(chunks)) {
      limits.budget.read(block.length);
      const safe = redactor.push(block);
      if (safe.length > 0) yield safe;
    }
    const last = redactor.end();
    if (last.length > 0) yield last;
  }

  const visitWith = (limits: TextLimits): Visit => {
    const { budget } = limits;
    const rule = (value: string): string => {
      const bytes = Buffer.from(value, 'utf8');
      const safe = new TextRedactor(means, limits).whole(bytes);
      return safe === bytes ? value : safe.toString('utf8');
    };
    return (value, name = '') => withoutSecrets(value, name, { text: rule, marks, budget });
  };
  return {
    text: (chunks) => text(chunks),
    json: (chunks) => {
      const limits = streamLimits();
      // Secrets that no field reveals are found in the text that the values become.
      return text(jsonParts(chunks, visitWith(limits)), limits);
    },
  };
}

const streamLimits = (): TextLimits => ({
  budget: new Budget(STREAM_LIMITS),
  effort: new Effort(),
  search: new Effort(),
});

type Visit = (value: unknown, name?: string) => unknown;

async function* jsonParts(
  chunks: AsyncIterable<Uint8Array>,
  visit: Visit,
): AsyncGenerator<Uint8Array> {
  const values = new JsonValues();
  /** Of a list whose objects do not say what they are. */
  let itemKind: string | undefined;
  const redacted = ({ bytes, path }: JsonPart): Buffer => {
    if (path === undefined || bytes.length < MIN_JSON_BYTES) return bytes;
    const value = shallowJson(bytes.toString());
    if (path.length === 1 && path[0] === 'kind' && typeof value === 'string') {
      itemKind = /^(\w+)List$/.exec(value)?.[1];
    }
    const isItem = path.at(-1) === 'items' && isRecord(value) && itemKind !== undefined;
    const whole = isItem ? { kind: itemKind, ...value } : value;
    const safe = visit(whole, path.at(-1));
    if (safe === whole) return bytes;
    return Buffer.from(JSON.stringify(safe, null, bytes.includes('\n') ? 2 : undefined));
  };
  for await (const chunk of chunks) {
    // Many at once: a stream of small documents is not slowed by their number.
    let parts: Buffer[] = [];
    for (const part of values.push(bytesOf(chunk))) {
      parts.push(redacted(part));
      if (parts.length < MAX_PARTS) continue;
      yield Buffer.concat(parts);
      parts = [];
    }
    yield Buffer.concat(parts);
  }
  for (const part of values.end()) yield redacted(part);
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Uint8Array) =>
  Buffer.from(buffer, byteOffset, byteLength);
