import { isDistinctive } from './known.ts';

/** Longer texts are not secrets, but can contain some. */
const MAX_LENGTH = 8192;
/** For all words together: searching for them takes a hundred times as much memory. */
const MAX_CHARACTERS = 1 << 19;

/** This many lines identify a key; its other lines are kept if there is room. */
const NEEDED_LINES = 2;
/** Lines of short keys come before the rest of long ones. */
const RANKS = 5;

/**
 * The distinct secrets of a host, limited in number and size. Passwords and tokens come first,
 * then one line of each key, then a second one of each, then the other lines.
 */
export class FoundSecrets {
  readonly #limit: number;
  readonly #words = new Set<string>();
  /** Lines of keys by their rank in the key. */
  readonly #lines = Array.from({ length: RANKS }, () => new Set<string>());
  #characters = 0;
  #isCut = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** At most `limit`, the most important first. */
  get all(): string[] {
    return distinct(this.#words, ...this.#lines).slice(0, this.#limit);
  }

  /** Whether the limits left out a password, a token or a key. */
  get isCut(): boolean {
    const needed = distinct(this.#words, ...this.#lines.slice(0, NEEDED_LINES));
    return this.#isCut || needed.length > this.#limit;
  }

  /** A password, a token or the like. */
  add(secret: string): void {
    if (!isUsable(secret) || this.#words.has(secret)) return;
    const characters = this.#characters + secret.length;
    if (characters > MAX_CHARACTERS) {
      this.#isCut = true;
      return;
    }
    this.#characters = characters;
    this.#words.add(copyOf(secret));
  }

  /** `lines`: of a private key, the most significant first. */
  addKey(lines: readonly string[]): void {
    for (const [rank, found] of this.#lines.entries()) {
      const ranked = lines.slice(rank, rank < RANKS - 1 ? rank + 1 : lines.length);
      for (const line of ranked.filter(isUsable)) {
        // One more than the limit shows that a line was left out.
        if (found.size <= this.#limit) found.add(copyOf(line));
      }
    }
  }
}

const isUsable = (secret: string) => secret.length <= MAX_LENGTH && isDistinctive(secret);

const distinct = (...all: Set<string>[]) => [...new Set(all.flatMap((found) => [...found]))];

/** A substring would keep the whole text in memory. */
const copyOf = (text: string) => Buffer.from(text, 'utf8').toString('utf8');
