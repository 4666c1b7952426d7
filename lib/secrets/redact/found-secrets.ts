import { isDistinctive } from './known.ts';
import { fairNumber, HOST, Shares } from './shares.ts';
import { UUID } from './values.ts';

/** Longer texts are not secrets, but can contain some. */
const MAX_LENGTH = 8192;
/** For all words together: searching for them takes a hundred times as much memory. */
const MAX_CHARACTERS = 1 << 19;

/** This many lines identify a key; its other lines are kept if there is room. */
const NEEDED_LINES = 2;
/** Lines of short keys come before the rest of long ones. */
const RANKS = 5;

/**
 * The distinct secrets of a host and of the pods, containers and users on it, limited in number and size. Passwords
 * and tokens come first, then one line of each key, then a second one of each, then the other lines. The host's own have
 * the first claim to the room; the others share what is left, so that one of them cannot take it all.
 */
export class FoundSecrets {
  readonly #limit: number;
  readonly #words = new Shares(MAX_CHARACTERS);
  /** The lines that identify a key, by their rank in it. */
  readonly #needed = Array.from({ length: NEEDED_LINES }, () => new Shares(MAX_CHARACTERS));
  /** The other lines by their rank. */
  readonly #rest = Array.from({ length: RANKS - NEEDED_LINES }, () => new Set<string>());

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** At most `limit`, the most important first. */
  get all(): string[] {
    const { chosen } = this.#chosen();
    const needed = this.#kinds.flatMap((kind) =>
      inTurn(kind.owners.map((owner) => kind.of(owner).filter((one) => chosen.has(one)))),
    );
    return distinct(needed, ...this.#rest).slice(0, this.#limit);
  }

  /** Whether the limits left out a password, a token or a key. */
  get isCut(): boolean {
    return this.cut.length > 0;
  }

  /** Whose secrets were left out. */
  get cut(): string[] {
    return distinct(
      this.#kinds.flatMap(({ cut }) => [...cut]),
      this.#chosen().cut,
    );
  }

  get #kinds(): readonly Shares[] {
    return [this.#words, ...this.#needed];
  }

  /** As many of each as there is room for. */
  #chosen(): { chosen: ReadonlySet<string>; cut: string[] } {
    const kinds = this.#kinds;
    const owners = distinct(kinds.flatMap((kind) => kind.owners));
    const claims = owners.map((owner) => distinct(kinds.flatMap((kind) => kind.of(owner))));
    const [own = [], ...others] = claims;
    const each = fairNumber(
      others.map(({ length }) => length),
      this.#limit - own.length,
    );
    const roomOf = (owner: string) => (owner === HOST ? this.#limit : each);
    const shares = owners.map((owner, at) => claims[at]?.slice(0, roomOf(owner)) ?? []);
    return {
      chosen: new Set(shares.flat()),
      cut: owners.filter((owner, at) => (claims[at]?.length ?? 0) > roomOf(owner)),
    };
  }

  /** A password, a token or the like. `owner`: whose it is. */
  add(secret: string, owner = HOST): void {
    if (isUsable(secret)) this.#words.add(owner, secret);
  }

  /** `lines`: of a private key, the most significant first. */
  addKey(lines: readonly string[], owner = HOST): void {
    for (const [rank, shares] of this.#needed.entries()) {
      for (const line of lines.slice(rank, rank + 1).filter(isUsable)) shares.add(owner, line);
    }
    for (const [index, found] of this.#rest.entries()) {
      const rank = NEEDED_LINES + index;
      const ranked = lines.slice(rank, rank < RANKS - 1 ? rank + 1 : lines.length);
      for (const line of ranked.filter(isUsable)) {
        if (found.size < this.#limit) found.add(copyOf(line));
      }
    }
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

const distinct = (...all: Iterable<string>[]) => [...new Set(all.flatMap((found) => [...found]))];

/** The first of each list, then the second of each: how widely a secret is searched for depends on its place. */
function inTurn(lists: readonly (readonly string[])[]): string[] {
  const longest = lists.reduce((most, { length }) => Math.max(most, length), 0);
  const [first = [], ...others] = lists;
  const turns = Array.from({ length: longest }, (_, turn) =>
    others.flatMap((list) => list.slice(turn, turn + 1)),
  );
  return [...first, ...turns.flat()];
}

/** A substring would keep the whole text in memory. */
const copyOf = (text: string) => Buffer.from(text, 'utf8').toString('utf8');
