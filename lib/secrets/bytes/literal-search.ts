/** A place where one of the literals stands. */
export interface Hit {
  /** Of its first byte. */
  readonly offset: number;
  /** Its position in the list that the search was made of. */
  readonly literal: number;
}

/** Bytes that are looked at together; a literal has at least one more, so that there is something to skip. */
const GRAM = 3;
export const MIN_LITERAL = GRAM + 1;
const CLASS_BITS = 6;
const END = -1;

/** Six bits for each byte: letters and digits apart, the few others share what is left. */
function classes(ignoreCase: boolean): Uint8Array {
  const letters = 'abcdefghijklmnopqrstuvwxyz';
  const all = ignoreCase ? letters : `${letters}${letters.toUpperCase()}`;
  const distinct = [...all, ...'0123456789'].map((char) => char.charCodeAt(0));
  const free = (1 << CLASS_BITS) - distinct.length;
  const table = Uint8Array.from({ length: 256 }, (_, byte) => distinct.length + (byte % free));
  for (const [index, byte] of distinct.entries()) table[byte] = index;
  if (ignoreCase) {
    for (const char of letters) {
      table[char.toUpperCase().charCodeAt(0)] = table[char.charCodeAt(0)] ?? 0;
    }
  }
  return table;
}

const folded = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte,
);
const asTheyAre = Uint8Array.from({ length: 256 }, (_, byte) => byte);

/** From the most frequent in logs to the rarest. */
const FREQUENCY = ' eotainsr:dl/cu.mp-g=fhby"wv_k,{@xqjz$';

/** Where the last group stands of those of a word that are the rarest together. */
function rarest(literal: Uint8Array, stride: number): number {
  const rarity = (byte: number) => Math.max(0, FREQUENCY.indexOf(String.fromCharCode(byte)));
  const length = GRAM + stride - 1;
  let best = length;
  let most = -1;
  for (let end = length; end <= literal.length; end++) {
    const sum = literal.subarray(end - length, end).reduce((all, byte) => all + rarity(byte), 0);
    if (sum > most) [best, most] = [end, sum];
  }
  return best - GRAM;
}

/**
 * Finds many literals in bytes at once. It looks at every n-th group of three bytes only, n
 * such that the shortest literal cannot lie between two of them, in a table of some groups of
 * each: of words the rarest, of secrets the last (their beginnings are often equal).
 */
export class LiteralSearch {
  readonly #literals: readonly Uint8Array[];
  readonly #stride: number;
  readonly #classes: Uint8Array;
  readonly #fold: Uint8Array;
  /** A bit for each group, set if there are entries: small enough for the processor's nearest cache. */
  readonly #isThere: Uint8Array;
  /** By group: its first entry. Entries with the same group are chained. */
  readonly #first: Int32Array;
  readonly #next: Int32Array;
  /** Of each entry: the literal, and where in it the group stands. */
  readonly #literalOf: Int32Array;
  readonly #placeOf: Int32Array;

  /** Each literal has at least MIN_LITERAL bytes. */
  constructor(literals: readonly Uint8Array[], { ignoreCase }: { ignoreCase: boolean }) {
    this.#classes = classes(ignoreCase);
    this.#fold = ignoreCase ? folded : asTheyAre;
    this.#literals = literals.map((literal) => literal.map((byte) => this.#fold[byte] ?? byte));
    const shortest = literals.reduce((least, { length }) => Math.min(least, length), 64);
    this.#stride = shortest - GRAM + 1;
    // The tables take a MiB; a search for nothing needs none.
    const groups = literals.length === 0 ? 0 : 1 << (GRAM * CLASS_BITS);
    this.#isThere = new Uint8Array(groups >> 3);
    this.#first = new Int32Array(groups).fill(END);
    const entries = literals.length * this.#stride;
    this.#next = new Int32Array(entries);
    this.#literalOf = new Int32Array(entries);
    this.#placeOf = new Int32Array(entries);
    let entry = 0;
    for (const [index, literal] of this.#literals.entries()) {
      const last = ignoreCase ? rarest(literal, this.#stride) : literal.length - GRAM;
      for (let shift = 0; shift < this.#stride; shift++, entry++) {
        const place = last - shift;
        const group = this.#groupAt(literal, place);
        this.#literalOf[entry] = index;
        this.#placeOf[entry] = place;
        this.#next[entry] = this.#first[group] ?? END;
        this.#first[group] = entry;
        this.#isThere[group >> 3] = (this.#isThere[group >> 3] ?? 0) | (1 << (group & 7));
      }
    }
  }

  /** All hits, in the order of their offsets; hits may overlap. */
  find(bytes: Uint8Array): Hit[] {
    const hits: Hit[] = [];
    if (this.#literals.length === 0) return hits;
    const table = this.#classes;
    const isThere = this.#isThere;
    const stride = this.#stride;
    const last = bytes.length - GRAM;
    for (let at = 0; at <= last; at += stride) {
      const group =
        ((table[bytes[at] ?? 0] ?? 0) << (2 * CLASS_BITS)) |
        ((table[bytes[at + 1] ?? 0] ?? 0) << CLASS_BITS) |
        (table[bytes[at + 2] ?? 0] ?? 0);
      if (((isThere[group >> 3] ?? 0) & (1 << (group & 7))) === 0) continue;
      this.#collect(bytes, at, this.#first[group] ?? END, hits);
    }
    return hits.sort((a, b) => a.offset - b.offset);
  }

  #collect(bytes: Uint8Array, at: number, start: number, hits: Hit[]): void {
    for (let entry = start; entry !== END; entry = this.#next[entry] ?? END) {
      const literal = this.#literalOf[entry] ?? 0;
      const offset = at - (this.#placeOf[entry] ?? 0);
      if (this.#standsAt(bytes, offset, literal)) hits.push({ offset, literal });
    }
  }

  #standsAt(bytes: Uint8Array, offset: number, index: number): boolean {
    const literal = this.#literals[index];
    if (literal === undefined || offset < 0 || offset + literal.length > bytes.length) return false;
    const fold = this.#fold;
    for (let at = literal.length - 1; at >= 0; at--) {
      if (fold[bytes[offset + at] ?? 0] !== literal[at]) return false;
    }
    return true;
  }

  #groupAt(bytes: Uint8Array, at: number): number {
    const classAt = (index: number) => this.#classes[bytes[index] ?? 0] ?? 0;
    return (classAt(at) << (2 * CLASS_BITS)) | (classAt(at + 1) << CLASS_BITS) | classAt(at + 2);
  }
}
