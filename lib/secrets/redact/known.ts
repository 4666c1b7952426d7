import { LiteralSearch } from '../bytes/literal-search.ts';
import { Canonical } from './canonical.ts';
import type { Effort } from './effort.ts';
import { LEFT_OUT, merged, type SecretFinding } from './finding.ts';
import type { Marks } from './marks.ts';
import { spellingsOf } from './spellings.ts';

/** Shorter ones would hit ordinary words, and their base64 would say too little about them. */
const MIN_LENGTH = 8;
/** The first characters of a key of kilobytes tell. */
const JUDGED = 64;

/** A secret, or text as latin1 that stands for one, and its mark. */
interface Spelling {
  readonly text: string;
  readonly by: string;
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

  constructor(secrets: Iterable<string>, marks: Marks) {
    const all = [...new Set(secrets)]
      .filter(isDistinctive)
      .map((secret) => ({ text: secret, by: marks.of(secret) }));
    this.#verbatim = searchFor(all, (secret) => [Buffer.from(secret).toString('latin1')]);
    this.#canonical = searchFor(all, (secret) => spellingsOf(secret).filter(isDistinctive));
  }

  /** Overlapping hits are one finding. The rest of a text that takes too long is a finding too. */
  find(bytes: Uint8Array, effort: Spent = { isSpent: () => false }): SecretFinding[] {
    if (this.#verbatim.spellings.length === 0) return [];
    const found = foundBy(this.#canonical, this.#text.of(bytes), effort);
    return merged([
      ...foundBy(this.#verbatim, bytes, effort),
      ...found.map((finding) => ({ ...finding, ...this.#text.rawOf(finding) })),
    ]);
  }
}

function searchFor(all: readonly Spelling[], spell: (secret: string) => string[]): SpellingSearch {
  const spellings = all.flatMap(({ text, by }) => spell(text).map((text) => ({ text, by })));
  const literals = spellings.map(({ text }) => Buffer.from(text, 'latin1'));
  return { spellings, search: new LiteralSearch(literals, { ignoreCase: false }) };
}

/** In order, none overlapping: there can be hundreds of hits at each byte. */
function foundBy({ spellings, search }: SpellingSearch, text: Uint8Array, effort: Spent) {
  const found: SecretFinding[] = [];
  const end = search.search(text, {
    // Not within the last one.
    isWanted: ({ offset, literal }) => {
      const { start, end } = found.at(-1) ?? { start: text.length, end: 0 };
      return offset < start || offset + (spellings[literal]?.text.length ?? 0) > end;
    },
    found: ({ offset, literal }) => {
      const { text: spelled, by } = spellings[literal] ?? { text: '', by: '' };
      let place: SecretFinding = { start: offset, end: offset + spelled.length, by };
      for (let last = found.at(-1); last && last.end > place.start; last = found.at(-1)) {
        found.pop();
        // What begins first says what it is; of such, the longest.
        const first: SecretFinding = last.start < place.start ? last : place;
        place = { ...first, end: Math.max(last.end, place.end) };
      }
      found.push(place);
    },
    isSpent: () => effort.isSpent(),
  });
  if (end < text.length) found.push({ start: end, end: text.length, by: LEFT_OUT });
  return found;
}

/** Whether a value cannot be an ordinary word or number by chance: only such values can be searched for. */
export function isDistinctive(secret: string): boolean {
  const characters = new Set(secret.slice(0, JUDGED));
  return secret.length >= MIN_LENGTH && characters.size >= 4 && !/^[a-z]{1,11}$/.test(secret);
}
