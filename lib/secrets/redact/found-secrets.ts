import { isDistinctive } from './known.ts';
import { UUID } from './values.ts';

/** What belongs to the host itself: it gives way to nobody. */
export const HOST = '';

/** Longer texts are not secrets, but can contain some. */
const MAX_LENGTH = 8192;
/** For all together: searching for them takes a hundred times as much memory. */
const MAX_CHARACTERS = 1 << 20;
/** For what is not the host's own. */
const MAX_CHARACTERS_OF_OTHERS = 1 << 17;
/** Passwords and tokens, and two lines that identify each key. Its other lines are kept if there is room. */
const NEEDED = 3;
/** Lines of short keys come before the rest of long ones. */
const RANKS = 6;

/** Secrets of one owner, by rank. */
class Share {
  readonly ranks = Array.from({ length: RANKS }, () => new Set<string>());
  characters = 0;
}

/**
 * The distinct secrets of a host and of the pods, containers and users on it, limited in number and size. The host's own
 * come first; the others follow in turn, so that one of them cannot take all the room. Last come the other lines of keys.
 */
export class FoundSecrets {
  readonly #limit: number;
  readonly #shares = new Map([[HOST, new Share()]]);
  /** Who had more than fits. */
  readonly #cut = new Set<string>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** At most `limit`: passwords and tokens, then the lines of keys by their significance. */
  get all(): string[] {
    return [...this.#chosen().entries()].sort(([, a], [, b]) => a - b).map(([secret]) => secret);
  }

  /** Whose passwords, tokens or keys were left out. */
  get cut(): string[] {
    const chosen = this.#chosen();
    const left = this.#inTurn(0, NEEDED).filter(({ secret }) => !chosen.has(secret));
    return [...new Set([...this.#cut, ...left.map(({ owner }) => owner)])];
  }

  /** With their ranks. */
  #chosen(): ReadonlyMap<string, number> {
    const chosen = new Map<string, number>();
    let characters = 0;
    for (const { secret, rank } of [...this.#inTurn(0, NEEDED), ...this.#inTurn(NEEDED, RANKS)]) {
      if (chosen.has(secret) || characters + secret.length > MAX_CHARACTERS) continue;
      if (chosen.size >= this.#limit) break;
      chosen.set(secret, rank);
      characters += secret.length;
    }
    return chosen;
  }

  /** All of the host's, then the first of each of the others, then the second. */
  #inTurn(from: number, to: number) {
    const [host = [], ...others] = [...this.#shares].map(([owner, { ranks }]) =>
      ranks.flatMap((secrets, rank) =>
        rank < from || rank >= to ? [] : [...secrets].map((secret) => ({ owner, secret, rank })),
      ),
    );
    const longest = others.reduce((most, { length }) => Math.max(most, length), 0);
    const turns = Array.from({ length: longest }, (_, turn) =>
      others.flatMap((list) => list.slice(turn, turn + 1)),
    );
    return [...host, ...turns.flat()];
  }

  /** A password, a token or the like. `owner`: whose it is. */
  add(secret: string, owner = HOST): void {
    if (isUsable(secret)) this.#add(secret, 0, owner);
  }

  /** `lines`: of a private key, the most significant first. */
  addKey(lines: readonly string[], owner = HOST): void {
    for (const [index, line] of lines.entries()) {
      if (isUsable(line)) this.#add(line, Math.min(index + 1, RANKS - 1), owner);
    }
  }

  #add(secret: string, rank: number, owner: string): void {
    const share = this.#shares.get(owner) ?? new Share();
    this.#shares.set(owner, share);
    if (share.ranks[rank]?.has(secret)) return;
    const room = owner === HOST ? MAX_CHARACTERS : MAX_CHARACTERS_OF_OTHERS;
    if (share.characters + secret.length > room) {
      if (rank < NEEDED) this.#cut.add(owner);
      return;
    }
    share.characters += secret.length;
    // A substring would keep the whole text in memory.
    share.ranks[rank]?.add(Buffer.from(secret, 'utf8').toString('utf8'));
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
