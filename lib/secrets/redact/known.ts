import { anyBase64 } from '../bytes/base64-text.ts';
import { byLength, LiteralSearch } from '../bytes/literal-search.ts';
import { Canonical } from './canonical.ts';
import type { Effort } from './effort.ts';
import { LEFT_OUT, merged, type SecretFinding } from './finding.ts';
import type { Marks } from './marks.ts';
import type { Span } from './rule.ts';
import { type Spelling, spellingsOf, verbatim } from './spellings.ts';

/** Shorter ones would hit ordinary words, and their base64 would say too little about them. */
const MIN_LENGTH = 8;
/** Characters of all spellings together; beyond it, secrets are searched for verbatim only. */
const MAX_SPELLED = 1 << 23;

interface SecretSpelling extends Spelling {
  readonly secret: string;
}

/** Where a secret stands. */
interface KnownPlace extends Span {
  readonly of: SecretSpelling;
}

/** Whether it is not within the last one. */
const isNews = (last: Span | undefined, place: Span) =>
  last === undefined || place.end > last.end || place.start < last.start;

/** Of long spellings, or of short ones. */
interface SpellingSearch {
  readonly spellings: readonly SecretSpelling[];
  readonly search: LiteralSearch;
}

/** A text, as it is or canonical, and where a part of it stands in the bytes. */
interface Searched {
  readonly text: Uint8Array;
  readonly bytes: Uint8Array;
  rawOf(span: Span): Span;
}

type Spent = Pick<Effort, 'isSpent'>;

/** The secrets that a host holds, wherever they turn up, however programs write them. */
export class KnownSecrets {
  /** In text as it is: what stands before a secret can look like an escape together with it. */
  readonly #verbatim: readonly SpellingSearch[];
  readonly #canonical: readonly SpellingSearch[];
  readonly #text = new Canonical();
  readonly #marks: Marks;
  /** By secret: a log can have one in each line. */
  readonly #known = new Map<string, string>();

  constructor(secrets: Iterable<string>, marks: Marks) {
    const distinct = [...new Set(secrets)].filter(isDistinctive);
    let spelled = 0;
    const spellings = distinct.flatMap((secret) => {
      if (spelled >= MAX_SPELLED) return [];
      const all = spellingsOf(secret).filter(({ text }) => isDistinctive(text));
      spelled += all.reduce((sum, { text }) => sum + text.length, 0);
      return all.map((spelling) => ({ ...spelling, secret }));
    });
    this.#canonical = searchesFor(spellings);
    this.#verbatim = searchesFor(distinct.map((secret) => ({ ...verbatim(secret), secret })));
    this.#marks = marks;
  }

  /** Overlapping hits are one finding. The rest of a text that takes too long is a finding too. */
  find(bytes: Uint8Array, effort: Spent = UNBOUNDED): SecretFinding[] {
    if (this.#verbatim.length === 0) return [];
    const asItIs: Searched = { text: bytes, bytes, rawOf: (span) => span };
    const text = this.#text.of(bytes);
    const canonical: Searched = { text, bytes, rawOf: (span) => this.#text.rawOf(span) };
    return merged([
      ...this.#verbatim.flatMap((search) => this.#findBy(search, asItIs, effort)),
      ...this.#canonical.flatMap((search) => this.#findBy(search, canonical, effort)),
    ]);
  }

  #findBy(
    { spellings, search }: SpellingSearch,
    { text, bytes, rawOf }: Searched,
    effort: Spent,
  ): SecretFinding[] {
    /** In order, none overlapping: there can be hundreds of hits at each byte. */
    const found: KnownPlace[] = [];
    const end = search.search(text, {
      isWanted: ({ offset, literal }) =>
        isNews(found.at(-1), {
          start: offset,
          end: offset + (spellings[literal]?.text.length ?? 0),
        }),
      found: ({ offset, literal }) => {
        const of = spellings[literal];
        if (of === undefined) return;
        let place: KnownPlace = { start: offset, end: offset + of.text.length, of };
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
    const findings = found.map((place) => ({
      ...widened(bytes, rawOf(place), place.of),
      by: this.#markOf(place.of.secret),
    }));
    if (end === text.length) return findings;
    return [
      ...findings,
      { start: rawOf({ start: end, end }).start, end: bytes.length, by: LEFT_OUT },
    ];
  }

  #markOf(secret: string): string {
    const mark = this.#known.get(secret) ?? this.#marks.of(secret);
    this.#known.set(secret, mark);
    return mark;
  }
}

const searchesFor = (all: readonly SecretSpelling[]): SpellingSearch[] =>
  byLength(all).map((spellings) => ({
    spellings,
    search: new LiteralSearch(
      spellings.map(({ text }) => Buffer.from(text, 'latin1')),
      { ignoreCase: false },
    ),
  }));

const isBase64 = (byte = 0) => anyBase64[byte] === 1;

const UNBOUNDED = { isSpent: () => false };

/** With the characters of base64 that hold a part of the secret. */
const widened = (bytes: Uint8Array, { start, end }: Span, { before, after }: Spelling): Span => ({
  start: start - (isBase64(bytes[start - 1]) ? before : 0),
  end: end + (isBase64(bytes[end]) ? after : 0),
});

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
