import { isDistinctive } from './known.ts';

/** A longer text is no secret, but may hold some. */
const MAX_LENGTH = 8192;
/** Of all of them: the search for them takes a hundred times as much memory. */
const MAX_CHARACTERS = 1 << 19;

/**
 * The distinct secrets of a host, up to a limit of their number, and of their characters. Passwords
 * and tokens come before lines of keys, and of each key one line before any other: no number of
 * keys leaves out a token, or a key.
 */
export class FoundSecrets {
  readonly #limit: number;
  readonly #words = new Set<string>();
  /** Lines of keys by their rank in their key. */
  readonly #lines: Set<string>[] = [];
  #characters = 0;
  #isCut = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** In the order in which they were read. */
  get all(): string[] {
    return this.#distinct.slice(0, this.#limit);
  }

  /** Whether the limit left some out. */
  get isCut(): boolean {
    return this.#isCut || this.#distinct.length > this.#limit;
  }

  get #distinct(): string[] {
    return [...new Set([this.#words, ...this.#lines].flatMap((found) => [...found]))];
  }

  add(secret: string): void {
    if (!isUsable(secret) || this.#words.has(secret)) return;
    if (this.#characters + secret.length > MAX_CHARACTERS) {
      this.#isCut = true;
      return;
    }
    this.#characters += secret.length;
    this.#addTo(this.#words, secret);
  }

  /** `lines`: the ones by which the key is found, the most important one first. */
  addKey(lines: readonly string[]): void {
    for (const [rank, line] of lines.entries()) {
      const found = this.#lines[rank] ?? new Set();
      this.#lines[rank] = found;
      if (isUsable(line) && !found.has(line)) this.#addTo(found, line);
    }
  }

  #addTo(found: Set<string>, secret: string): void {
    // A copy: a part of a text would keep all of it in memory.
    if (found.size < this.#limit) found.add(Buffer.from(secret, 'utf8').toString('utf8'));
    else this.#isCut = true;
  }
}

const isUsable = (secret: string) => secret.length <= MAX_LENGTH && isDistinctive(secret);
