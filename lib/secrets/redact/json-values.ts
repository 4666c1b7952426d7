/** A larger value is not parsed as one: it would take several times its length in memory. */
export const MAX_VALUE_BYTES = 2 << 20;
/** How deep it goes into values that are too large: a list of objects, in an object, in another. */
const MAX_LEVELS = 4;

const NEWLINE = 0x0a;
const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/** A part of a stream of JSON: a value that is small enough to be parsed, or what stands around such. */
export interface JsonPart {
  readonly bytes: Buffer;
  /** Of a value: the keys of the objects around it. */
  readonly path?: readonly string[];
}

interface Level {
  readonly isList: boolean;
  readonly key: string | undefined;
}

type State = 'between' | 'key' | 'value' | 'too-long' | 'line' | 'broken';

/**
 * Cuts a stream of JSON documents into values that can be parsed, so that a list of any
 * length is read object by object. All parts together are the stream, byte for byte. A line that
 * is not JSON is not a value; after a fault within a large value, nothing counts as a value any more.
 */
export class JsonValues {
  /** The large values that it is in. */
  #levels: Level[] = [];
  #state: State = 'between';
  #key: string | undefined;
  /** Of the value or key that it is in. */
  #parts: Buffer[] = [];
  #length = 0;
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  readonly #maxValueBytes: number;

  constructor(maxValueBytes = MAX_VALUE_BYTES) {
    this.#maxValueBytes = maxValueBytes;
  }

  *push(chunk: Buffer): Generator<JsonPart> {
    let from = 0;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk.readUInt8(at);
      if (this.#state === 'between') {
        if (this.#begins(byte)) {
          if (at > from) yield { bytes: chunk.subarray(from, at) };
          from = at;
        }
        // A level's end, or a value's first byte.
        if (this.#state === 'between' || this.#state === 'line') continue;
      }
      const end = this.#endsAt(byte, at);
      if (end === undefined) continue;
      yield this.#finished(chunk.subarray(from, end));
      from = end;
      if (end === at) at--;
    }
    if (from < chunk.length) yield* this.#unfinished(chunk.subarray(from));
  }

  /** The part that has not ended. */
  *end(): Generator<JsonPart> {
    if (this.#length > 0) yield { bytes: this.#taken() };
  }

  /** Between values; whether a value, a key, or something else that is a part of its own begins here. */
  #begins(byte: number): boolean {
    const level = this.#levels.at(-1);
    if (byte <= SPACE || (level !== undefined && (byte === COMMA || byte === COLON))) return false;
    if (level !== undefined && (byte === CLOSE || byte === CLOSE_LIST)) {
      this.#levels.pop();
      this.#key = undefined;
      if (level.isList !== (byte === CLOSE_LIST)) this.#state = 'broken';
      return false;
    }
    if (level === undefined && byte !== OPEN && byte !== OPEN_LIST) this.#state = 'line';
    else if (level?.isList === false && this.#key === undefined) this.#state = 'key';
    else this.#state = 'value';
    return true;
  }

  /** In a part; where it ends, if it does with this byte or before it. */
  #endsAt(byte: number, at: number): number | undefined {
    if (this.#state === 'broken') return undefined;
    if (this.#state === 'line') return byte === NEWLINE ? at + 1 : undefined;
    if (this.#isInString) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (byte === BACKSLASH) this.#isEscaped = true;
      else if (byte === QUOTE) {
        this.#isInString = false;
        return this.#depth === 0 ? at + 1 : undefined;
      } else if (byte === NEWLINE) return this.#fault(at);
      return undefined;
    }
    if (byte === QUOTE) this.#isInString = true;
    else if (byte === OPEN || byte === OPEN_LIST) this.#depth += 1;
    else if (byte === CLOSE || byte === CLOSE_LIST) {
      // A number or a word ends before the end of what it stands in.
      if (this.#depth === 0) return at;
      this.#depth -= 1;
      return this.#depth === 0 ? at + 1 : undefined;
    } else if (this.#depth === 0 && (byte === COMMA || byte <= SPACE)) return at;
    return undefined;
  }

  /** A line's end in a text: a document that was cut off ends here, and the next line begins another. */
  #fault(at: number): number | undefined {
    this.#isInString = false;
    this.#depth = 0;
    this.#state = this.#levels.length === 0 ? 'line' : 'broken';
    return this.#state === 'line' ? at + 1 : undefined;
  }

  #finished(bytes: Buffer): JsonPart {
    const state = this.#state;
    const key = this.#key;
    const whole = this.#length === 0 ? bytes : Buffer.concat([this.#taken(), bytes]);
    this.#state = 'between';
    this.#key = state === 'key' ? keyOf(whole) : undefined;
    return state === 'value' ? { bytes: whole, path: this.#path(key) } : { bytes: whole };
  }

  #path(key: string | undefined): string[] {
    return [...this.#levels.map((level) => level.key), key].filter((name) => name !== undefined);
  }

  *#unfinished(bytes: Buffer): Generator<JsonPart> {
    if (this.#state !== 'value' && this.#state !== 'key') {
      // After a fault: the beginning of the value, from earlier chunks.
      if (this.#length > 0) yield { bytes: this.#taken() };
      yield { bytes };
      return;
    }
    // A copy: the stream may use its memory again.
    this.#parts.push(Buffer.from(bytes));
    this.#length += bytes.length;
    if (this.#length <= this.#maxValueBytes) return;
    const whole = this.#taken();
    const isList = whole[0] === OPEN_LIST;
    if (this.#levels.length >= MAX_LEVELS || (!isList && whole[0] !== OPEN)) {
      this.#state = this.#state === 'key' ? 'broken' : 'too-long';
      yield { bytes: whole };
      return;
    }
    this.#levels.push({ isList, key: this.#key });
    this.#state = 'between';
    this.#key = undefined;
    this.#depth = 0;
    this.#isInString = false;
    this.#isEscaped = false;
    yield { bytes: whole.subarray(0, 1) };
    yield* this.push(whole.subarray(1));
  }

  #taken(): Buffer {
    const bytes = Buffer.concat(this.#parts);
    this.#parts = [];
    this.#length = 0;
    return bytes;
  }
}

function keyOf(text: Buffer): string | undefined {
  try {
    const key: unknown = JSON.parse(text.toString('utf8'));
    return typeof key === 'string' ? key : undefined;
  } catch {
    return undefined;
  }
}
