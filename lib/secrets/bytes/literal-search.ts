/** A place where one of the literals stands. */
export interface Hit {
  /** Of its first byte. */
  readonly offset: number;
  /** Its position in the list that the search was made of. */
  readonly literal: number;
}

/** What decides which hits of a search are looked for: there can be hundreds at each byte. */
export interface Sieve {
  /** Whether a hit would say anything new; asked before the literal is compared. */
  isWanted(hit: Hit): boolean;
  found(hit: Hit): void;
  /** Asked after each WORK of the search: it ends once the answer is yes. */
  isSpent(): boolean;
}

/** Bytes compared, and literals looked at, between two questions: about ten microseconds. */
const WORK = 4096;

/** A literal has at least one byte more than are looked at together, so that there is something to skip. */
export const MIN_LITERAL = 4;
/** Bytes that are looked at together: the more, the rarer is a group that belongs to no literal. */
type Gram = 3 | 4;
/** A literal that leaves enough to skip. */
const LONG_LITERAL = 8;

/** More could be skipped at once, but each literal has as many entries as bytes are skipped. */
const MAX_STRIDE = 8;
/** The table of groups has this many bits for each entry, between these sizes in bits as powers of two. */
const BITS_PER_ENTRY = 64;
const TABLE_BITS = { least: 13, most: 23 } as const;

/** As many bits of a hash as its chain of entries does without. */
const CHAINED_BITS = 5;
const END = -1;

const folded = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte,
);
const asTheyAre = Uint8Array.from({ length: 256 }, (_, byte) => byte);
/** Makes letters of four bytes lower case; the few others that it changes are told apart later. */
const LOWER_CASE = 0x20202020;

/** Spreads groups over the table: 2^32 divided by the golden ratio. */
const MULTIPLIER = 0x9e3779b1;

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array) =>
  new DataView(buffer, byteOffset, byteLength);

/**
 * Finds many literals in bytes at once. It looks at every n-th group of a few bytes only, n such that the shortest literal
 * cannot lie between two of them, in a table of the last n groups of each: beginnings are often equal.
 */
export class LiteralSearch {
  readonly #literals: readonly Uint8Array[];
  /** The first four bytes of each. */
  readonly #beginnings: Int32Array;
  readonly #gram: Gram;
  readonly #stride: number;
  readonly #fold: Uint8Array;
  readonly #case: number;
  /** Of the first four bytes at an offset, those that belong to the group. */
  readonly #mask: number;
  /** A bit for each hash of a group, set if there are entries: small enough for a near cache. */
  readonly #isThere: Uint8Array;
  /** 32 minus the bits of a hash. */
  readonly #shift: number;
  /** By some bits of the hash: the last entry with them, which has the one before it as its next. */
  readonly #first: Int32Array;
  readonly #next: Int32Array;
  /** Of each entry: the literal, and where in it the group stands. */
  readonly #literalOf: Int32Array;
  readonly #placeOf: Int32Array;
  /** Bytes of the longest literal. */
  readonly #longest: number;

  /** Each literal has at least MIN_LITERAL bytes. */
  constructor(literals: readonly Uint8Array[], { ignoreCase }: { ignoreCase: boolean }) {
    this.#fold = ignoreCase ? folded : asTheyAre;
    this.#case = ignoreCase ? LOWER_CASE : 0;
    this.#literals = literals.map((literal) => literal.map((byte) => this.#fold[byte] ?? byte));
    this.#beginnings = Int32Array.from(
      this.#literals,
      (literal) => viewOf(literal).getInt32(0, true) | this.#case,
    );
    this.#longest = literals.reduce((most, { length }) => Math.max(most, length), 0);
    const shortest = literals.reduce((least, { length }) => Math.min(least, length), 64);
    this.#gram = shortest >= LONG_LITERAL ? 4 : 3;
    this.#mask = this.#gram < 4 ? 0xffffff : -1;
    this.#stride = Math.min(MAX_STRIDE, shortest - this.#gram + 1);
    const entries = literals.length * this.#stride;
    const wanted = Math.ceil(Math.log2(entries * BITS_PER_ENTRY));
    const bits = Math.min(TABLE_BITS.most, Math.max(TABLE_BITS.least, wanted));
    this.#shift = 32 - bits;
    this.#isThere = new Uint8Array(1 << (bits - 3));
    this.#first = new Int32Array(1 << (bits - CHAINED_BITS)).fill(END);
    this.#next = new Int32Array(entries);
    this.#literalOf = new Int32Array(entries);
    this.#placeOf = new Int32Array(entries);
    let entry = 0;
    for (const [literal, bytes] of this.#literals.entries()) {
      const last = bytes.length - this.#gram;
      for (let place = last; place > last - this.#stride; place--) {
        this.#add(entry++, literal, place);
      }
    }
  }

  #add(entry: number, literal: number, place: number): void {
    const bytes = this.#literals[literal] ?? asTheyAre;
    const hash = this.#hashAt(viewOf(bytes), place, bytes.length);
    const chain = hash >>> CHAINED_BITS;
    this.#isThere[hash >> 3] = (this.#isThere[hash >> 3] ?? 0) | (1 << (hash & 7));
    this.#literalOf[entry] = literal;
    this.#placeOf[entry] = place;
    this.#next[entry] = this.#first[chain] ?? END;
    this.#first[chain] = entry;
  }

  /**
   * Hands over the hits that the sieve wants. Those of one literal come in order; a later one of another ends after
   * each earlier one begins. Returns where bytes begin that were not searched: their number, if all were.
   */
  search(bytes: Uint8Array, sieve: Sieve): number {
    const { length } = bytes;
    if (this.#literals.length === 0 || length < MIN_LITERAL) return length;
    const view = viewOf(bytes);
    const last = length - this.#gram;
    let work = 0;
    let at = this.#candidate(view, 0, length);
    while (at <= last) {
      const chain = this.#hashAt(view, at, length) >>> CHAINED_BITS;
      for (let entry = this.#first[chain] ?? END; entry !== END; entry = this.#next[entry] ?? END) {
        const literal = this.#literalOf[entry] ?? 0;
        const offset = at - (this.#placeOf[entry] ?? 0);
        work += 1;
        if (this.#mayStandAt(view, offset, literal, length)) {
          const hit = { offset, literal };
          if (sieve.isWanted(hit)) {
            work += this.#literals[literal]?.length ?? 0;
            if (this.#standsAt(view, offset, literal)) sieve.found(hit);
          }
        }
        if (work < WORK) continue;
        work = 0;
        if (sieve.isSpent()) return Math.max(0, at - this.#longest);
      }
      at = this.#candidate(view, at + this.#stride, length);
    }
    return length;
  }

  /**
   * The next offset, in strides, where a group of a literal may stand: one near the end always. All time is
   * spent here: four bytes loaded at once and no branch more than this make it several times as fast.
   */
  #candidate(view: DataView, from: number, length: number): number {
    const isThere = this.#isThere;
    const stride = this.#stride;
    const mask = this.#mask;
    const letters = this.#case;
    const shift = this.#shift;
    const whole = length - 4;
    let at = from;
    for (; at <= whole; at += stride) {
      const group = view.getInt32(at, true) & mask;
      const hash = Math.imul(group | letters, MULTIPLIER) >>> shift;
      if (((isThere[hash >> 3] ?? 0) & (1 << (hash & 7))) !== 0) break;
    }
    return at;
  }

  /** By its first bytes, and the space that it needs. */
  #mayStandAt(view: DataView, offset: number, index: number, length: number): boolean {
    if (offset < 0 || offset + MIN_LITERAL > length) return false;
    if ((view.getInt32(offset, true) | this.#case) !== this.#beginnings[index]) return false;
    return offset + (this.#literals[index]?.length ?? length) <= length;
  }

  #standsAt(view: DataView, offset: number, index: number): boolean {
    const literal = this.#literals[index] ?? asTheyAre;
    const fold = this.#fold;
    for (let at = literal.length - 1; at >= 0; at--) {
      if (fold[view.getUint8(offset + at)] !== literal[at]) return false;
    }
    return true;
  }

  /** Of the group that begins at an offset, which is as many bytes before the end; all four can only be there. */
  #hashAt(view: DataView, at: number, length: number): number {
    const group =
      at + 4 <= length ? view.getInt32(at, true) : view.getInt32(length - 4, true) >>> 8;
    return Math.imul((group & this.#mask) | this.#case, MULTIPLIER) >>> this.#shift;
  }
}
