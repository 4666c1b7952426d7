import { LiteralSearch } from '../bytes/literal-search.ts';
import { Canonical } from './canonical.ts';
import type { Effort } from './effort.ts';
import { LEFT_OUT, merged, type SecretFinding } from './finding.ts';
import type { Marks } from './marks.ts';
import type { Span } from './rule.ts';
import { spellingsOf } from './spellings.ts';

/** Shorter ones would hit ordinary words, and their base64 would say too little about them. */
const MIN_LENGTH = 8;
/** Characters of all spellings together; beyond it, secrets are searched for verbatim only. */
const MAX_SPELLED = 1 << 23;

/** Text as latin1 that stands for a secret. */
interface Spelling {
  readonly text: string;
  readonly secret: string;
}

/** Where a secret stands. */
interface KnownPlace extends Span {
  readonly secret: string;
}

/** Spellings, and what finds them. */
interface SpellingSearch {
  readonly spellings: readonly Spelling[];
  readonly search: LiteralSearch;
}

type Spent = Pick<Effort, 'isSpent'>;

/** The secrets that a host holds, wherever they turn up, however programs write them. */
export class KnownSecrets {
  /** In text as it is: what stands before a secret can look like an escape together with it. */
  readonly #verbatim: SpellingSearch;
  readonly #canonical: SpellingSearch;
  readonly #text = new Canonical();
  readonly #marks: Marks;
  /** By secret: a log can have one in each line. */
  readonly #known = new Map<string, string>();

  constructor(secrets: Iterable<string>, marks: Marks) {
    const distinct = [...new Set(secrets)].filter(isDistinctive);
    let spelled = 0;
    const spellings = distinct.flatMap((secret) => {
      if (spelled >= MAX_SPELLED) return [];
      const all = spellingsOf(secret).filter(isDistinctive);
      spelled += all.reduce((sum, { length }) => sum + length, 0);
      return all.map((text) => ({ text, secret }));
    });
    this.#canonical = searchFor(spellings);
    this.#verbatim = searchFor(
      distinct.map((secret) => ({ text: Buffer.from(secret).toString('latin1'), secret })),
    );
    this.#marks = marks;
  }

  /** Overlapping hits are one finding. The rest of a text that takes too long is a finding too. */
  find(bytes: Uint8Array, effort: Spent = { isSpent: () => false }): SecretFinding[] {
    if (this.#verbatim.spellings.length === 0) return [];
    const found = this.#findBy(this.#canonical, this.#text.of(bytes), effort);
    return merged([
      ...this.#findBy(this.#verbatim, bytes, effort),
      ...found.map((finding) => ({ ...finding, ...this.#text.rawOf(finding) })),
    ]);
  }

  #findBy({ spellings, search }: SpellingSearch, text: Uint8Array, effort: Spent): SecretFinding[] {
    /** In order, none overlapping: there can be hundreds of hits at each byte. */
    const found: KnownPlace[] = [];
    const end = search.search(text, {
      // Not within the last one.
      isWanted: ({ offset, literal }) => {
        const { start, end } = found.at(-1) ?? { start: text.length, end: 0 };
        return offset < start || offset + (spellings[literal]?.text.length ?? 0) > end;
      },
      found: ({ offset, literal }) => {
        const { text: spelled, secret } = spellings[literal] ?? { text: '', secret: '' };
        let place: KnownPlace = { start: offset, end: offset + spelled.length, secret };
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
    const findings = found.map(({ start, end, secret }) => ({
      start,
      end,
      by: this.#markOf(secret),
    }));
    if (end < text.length) findings.push({ start: end, end: text.length, by: LEFT_OUT });
    return findings;
  }

  #markOf(secret: string): string {
    const mark = this.#known.get(secret) ?? this.#marks.of(secret);
    this.#known.set(secret, mark);
    return mark;
  }
}

const searchFor = (spellings: readonly Spelling[]): SpellingSearch => ({
  spellings,
  search: new LiteralSearch(
    spellings.map(({ text }) => Buffer.from(text, 'latin1')),
    { ignoreCase: false },
  ),
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
