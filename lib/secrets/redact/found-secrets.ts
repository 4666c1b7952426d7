import { isDistinctive } from './known.ts';

/** A longer text is no secret, but may hold some. */
const MAX_LENGTH = 8192;

/**
 * The distinct secrets of a host, up to a limit. Passwords and tokens come before lines of keys, and
 * of each key one line before any other: no number of keys leaves out a token, or a key.
 */
export class FoundSecrets {
  readonly #limit: number;
  readonly #words = new Set<string>();
  /** Lines of keys by their rank in their key. */
  readonly #lines: Set<string>[] = [];
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
    this.#addTo(this.#words, secret);
  }

  /** `lines`: the ones by which the key is found, the most important one first. */
  addKey(lines: readonly string[]): void {
    for (const [rank, line] of lines.entries()) {
      const found = this.#lines[rank] ?? new Set();
      this.#lines[rank] = found;
      this.#addTo(found, line);
    }
  }

  #addTo(found: Set<string>, secret: string): void {
    if (secret.length > MAX_LENGTH || !isDistinctive(secret) || found.has(secret)) return;
    if (found.size >= this.#limit) this.#isCut = true;
    // A copy: a part of a text would keep all of it in memory.
    else found.add(Buffer.from(secret, 'utf8').toString('utf8'));
  }
}
