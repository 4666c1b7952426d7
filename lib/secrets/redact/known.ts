import { anyBase64 } from '../bytes/base64-text.ts';
import { byLength, type Hit, LiteralSearch } from '../bytes/literal-search.ts';

import type { Effort } from './effort.ts';
import { LEFT_OUT, type SecretFinding } from './finding.ts';
import type { Marks } from './marks.ts';
import type { Span } from './rule.ts';
import { type Spelling, spellingsOf, verbatim } from './spellings.ts';

/** Shorter ones would hit ordinary words, and their base64 would say too little about them. */
const MIN_LENGTH = 8;
/** For all secrets together; beyond it, secrets are searched for verbatim only. */
const MAX_SPELLINGS = 46_000;
/** Characters of these, and of those of one secret: of a long one with many special characters they are a thousand times its own. */
const MAX_SPELLED = 1 << 23;
const MAX_SPELLED_OF_ONE = 1 << 18;
/** From there on, the attempt would take more time than is worth it. */
const SPELLED_ENOUGH = MAX_SPELLED - MAX_SPELLED_OF_ONE / 4;

interface SecretSpelling extends Spelling {
  readonly secret: string;
}

/** Where a secret stands. */
interface KnownPlace extends Span {
  readonly secret: string;
}

/** Whether it is not within the last one. */
const isNews = (last: Span | undefined, place: Span | undefined) =>
  place !== undefined && (last === undefined || place.end > last.end || place.start < last.start);

/** Of long spellings, or of short ones. */
interface SpellingSearch {
  readonly spellings: readonly SecretSpelling[];
  readonly search: LiteralSearch;
}

/** The secrets that a host holds, wherever they turn up: as they are, quoted, percent-encoded, in base64. */
export class KnownSecrets {
  readonly #searches: readonly SpellingSearch[];
  readonly #marks: Marks;
  /** By secret: a log can have one in each line. */
  readonly #known = new Map<string, string>();

  constructor(secrets: Iterable<string>, marks: Marks) {
    const distinct = [...new Set(secrets)].filter(isDistinctive);
    const spellings: SecretSpelling[] = [];
    let spelled = 0;
    for (const secret of distinct) {
      const hasRoom = spellings.length < MAX_SPELLINGS && spelled < SPELLED_ENOUGH;
      const all = hasRoom ? spellingsOf(secret) : [];
      const length = all.reduce((sum, { text }) => sum + text.length, 0);
      const isAffordable = length <= MAX_SPELLED_OF_ONE && spelled + length <= MAX_SPELLED;
      const ways = isAffordable && length > 0 ? all : [verbatim(secret)];
      if (isAffordable) spelled += length;
      for (const way of ways) spellings.push({ ...way, secret });
    }
    this.#searches = byLength(spellings).map((some) => ({
      spellings: some,
      search: new LiteralSearch(
        some.map(({ text }) => Buffer.from(text, 'latin1')),
        { ignoreCase: false },
      ),
    }));
    this.#marks = marks;
  }

  /** Overlapping hits are one finding. The rest of a text that takes too long is a finding too. */
  find(bytes: Uint8Array, effort: Pick<Effort, 'isSpent'> = UNBOUNDED): SecretFinding[] {
    return this.#searches.flatMap((search) => this.#findBy(search, bytes, effort));
  }

  #findBy(
    { spellings, search }: SpellingSearch,
    bytes: Uint8Array,
    effort: Pick<Effort, 'isSpent'>,
  ) {
    /** In order, none overlapping: there can be hundreds of hits at each byte. */
    const found: KnownPlace[] = [];
    const placeOf = ({ offset, literal }: Hit) => {
      const of = spellings[literal];
      return of && { ...extentOf(bytes, offset, of), secret: of.secret };
    };
    const end = search.search(bytes, {
      isWanted: (hit) => isNews(found.at(-1), placeOf(hit)),
      found: (hit) => {
        let place = placeOf(hit);
        if (place === undefined || !isNews(found.at(-1), place)) return;
        for (let last = found.at(-1); last && last.end > place.start; last = found.at(-1)) {
          found.pop();
          // What begins first says what it is; of such, the longest.
          const first: KnownPlace = last.start < place.start ? last : place;
          place = { ...first, end: Math.max(last.end, place.end) };
        }
        found.push(place);
      },
      isSpent: () => effort.isSpent(),
    });
    const findings: SecretFinding[] = found.map(({ start, end, secret }) => ({
      start,
      end,
      by: this.#markOf(secret),
    }));
    return end === bytes.length
      ? findings
      : [...findings, { start: end, end: bytes.length, by: LEFT_OUT }];
  }

  #markOf(secret: string): string {
    const mark = this.#known.get(secret) ?? this.#marks.of(secret);
    this.#known.set(secret, mark);
    return mark;
  }
}

const isBase64 = (byte = 0) => anyBase64[byte] === 1;

const UNBOUNDED = { isSpent: () => false };

/** Of a spelling in bytes, with the characters of base64 that hold a part of the secret. */
function extentOf(bytes: Uint8Array, offset: number, { text, before, after }: Spelling) {
  const end = offset + text.length;
  return {
    start: offset - (isBase64(bytes[offset - 1]) ? before : 0),
    end: end + (isBase64(bytes[end]) ? after : 0),
  };
}

/** Whether a value cannot be an ordinary word or number by chance: only such values can be searched for. */
export function isDistinctive(secret: string): boolean {
  return secret.length >= MIN_LENGTH && hasFourCharacters(secret) && !/^[a-z]{1,11}$/.test(secret);
}

/** Different ones. Mostly the first few bytes of a key of kilobytes tell. */
function hasFourCharacters(secret: string): boolean {
  const seen = new Set<string>();
  for (const character of secret) if (seen.add(character).size === 4) return true;
  return false;
}
