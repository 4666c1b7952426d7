import { isDistinctive } from './known.ts';
import { UUID } from './values.ts';

/** What belongs to the host itself. */
export const HOST = '';

/** Longer texts are not secrets, but can contain some. */
const MAX_LENGTH = 8192;
/** For all together: searching for them takes ten times as much memory. */
const MAX_CHARACTERS = 1 << 20;
/** For each pod, container or user, of short ones a thousand: none of them can take all the room. */
const MAX_CHARACTERS_OF_ONE = 1 << 17;
const LEAST_COUNTED = 128;

/**
 * The distinct secrets of a host and of the pods, containers and users on it, limited in number and size. What comes
 * first is kept: the host's files are read first, those of others in turn. Last are the other lines of keys.
 */
export class FoundSecrets {
  readonly #limit: number;
  readonly #words = new Set<string>();
  /** Two lines of each key, and the others, which are kept if there is room. */
  readonly #keys = new Set<string>();
  readonly #lines = new Set<string>();
  readonly #counted = new Map<string, number>();
  #characters = 0;
  readonly #cut = new Set<string>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** At most `limit`. */
  get all(): string[] {
    return [...new Set([...this.#words, ...this.#keys, ...this.#lines])].slice(0, this.#limit);
  }

  /** Whose passwords, tokens or keys were left out. */
  get cut(): string[] {
    return [...this.#cut];
  }

  /** A password, a token or the like. `owner`: whose it is. */
  add(secret: string, owner = HOST): void {
    this.#add(this.#words, secret, owner);
  }

  /** `lines`: of a private key, the most significant first. */
  addKey(lines: readonly string[], owner = HOST): void {
    for (const [at, line] of lines.entries()) {
      this.#add(at < 2 ? this.#keys : this.#lines, line, owner);
    }
  }

  #add(secrets: Set<string>, secret: string, owner: string): void {
    if (!isUsable(secret) || this.#words.has(secret) || secrets.has(secret)) return;
    const counted = (this.#counted.get(owner) ?? 0) + Math.max(secret.length, LEAST_COUNTED);
    const characters = this.#characters + secret.length;
    const isFull =
      (owner !== HOST && counted > MAX_CHARACTERS_OF_ONE) ||
      this.#words.size + this.#keys.size >= this.#limit ||
      (secrets === this.#lines && secrets.size >= this.#limit) ||
      characters > MAX_CHARACTERS;
    if (isFull) {
      if (secrets !== this.#lines) this.#cut.add(owner);
      return;
    }
    this.#counted.set(owner, counted);
    this.#characters = characters;
    // A substring would keep the whole text in memory.
    secrets.add(Buffer.from(secret, 'utf8').toString('utf8'));
  }
}

const isUsable = (secret: string) =>
  secret.length <= MAX_LENGTH &&
  isDistinctive(secret) &&
  !PUBLIC.some((shape) => shape.test(secret));

/** What stands in many places of a bundle without being a secret: UUIDs, names of ciphers, times. */
const PUBLIC: readonly RegExp[] = [
  UUID,
  /^(?:TLS_|(?:EC)?DHE?-|hmac-|ssh-|ecdsa-|rsa-|curve25519-)[\w@.-]+$/i,
  /^(?:aes|chacha|camellia|sha|md|des|rc)-?\d{1,4}[\w@.-]*$/i,
  /^\d{4}-\d\d-\d\d(?:[T ][\d:.,Z+-]*)?$|^\d\d:\d\d(?::\d\d)?$|^(?:\d+(?:\.\d+)?(?:h|m|s|ms))+$/,
];
