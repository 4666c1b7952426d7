import { byLength, type Hit, LiteralSearch } from '../bytes/literal-search.ts';
import { isBase64 } from './base64-runs.ts';
import { Cover } from './cover.ts';
import type { Effort } from './effort.ts';
import { LEFT_OUT, type SecretFinding } from './finding.ts';
import type { Marks } from './marks.ts';
import { quotedSpellings } from './spellings.ts';

/** Shorter ones would hit ordinary words, and their base64 would say too little about them. */
const MIN_LENGTH = 8;
/** Longer ones than a line of a key are not printed in lists of bytes. */
const MAX_LISTED = 80;
/** The audit log has command lines as hex, but cuts them off at 128 bytes. */
const MAX_HEX = 128;

/** For all secrets together; beyond it, secrets are searched for verbatim only. */
const MAX_SPELLINGS = 40_000;
/** Characters of these, and of those of one secret: of a long one with many special characters they are a thousand times its own. */
const MAX_SPELLED = 1 << 23;
const MAX_SPELLED_OF_ONE = 1 << 18;
/** From there on, the attempt would take more time than is worth it. */
const SPELLED_ENOUGH = MAX_SPELLED - MAX_SPELLED_OF_ONE / 4;
/** Longer ones with special characters are searched for in the most usual spellings: all are beyond the limit. */
const MAX_QUOTED = 2048;

/** A way in which a secret can be written. */
interface Spelling {
  readonly text: string;
  /** Characters before and after it that hold a part of the secret too. */
  readonly before: number;
  readonly after: number;
}

interface SecretSpelling extends Spelling {
  readonly secret: string;
}

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
    const cover = new Cover<SecretSpelling>();
    const placeOf = ({ offset, literal }: Hit) => {
      const of = spellings[literal];
      return of === undefined ? undefined : { ...extentOf(bytes, offset, of), of };
    };
    const end = search.search(bytes, {
      isWanted: (hit) => {
        const place = placeOf(hit);
        return place !== undefined && !cover.holds(place);
      },
      found: (hit) => {
        const place = placeOf(hit);
        if (place !== undefined) cover.add(place);
      },
      isSpent: () => effort.isSpent(),
    });
    const findings: SecretFinding[] = cover.spans.map(({ start, end, of }) => ({
      start,
      end,
      by: this.#markOf(of.secret),
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
  return secret.length >= MIN_LENGTH && new Set(secret).size >= 4 && !/^[a-z]{1,11}$/.test(secret);
}

const isSpellable = (secret: string) => secret.length <= MAX_QUOTED || /^[\w.-]*$/.test(secret);

const verbatim = (secret: string): Spelling => ({
  text: Buffer.from(secret, 'utf8').toString('latin1'),
  before: 0,
  after: 0,
});

function spellingsOf(secret: string): Spelling[] {
  const bytes = Buffer.from(secret, 'utf8');
  if (!isSpellable(secret)) {
    const text = secret.toWellFormed();
    const forms = [text, JSON.stringify(text).slice(1, -1), encodeURIComponent(text)];
    return [...forms.map(verbatim), ...inBase64(bytes)];
  }
  const whole = new Set([
    bytes.toString('latin1'),
    ...quotedSpellings(secret),
    ...byteSpellings(bytes),
    // Of a line of a private key, what it stands for.
    ...(KEY_LINE.test(secret) ? byteSpellings(Buffer.from(secret, 'base64')) : []),
  ]);
  return [
    ...[...whole].map((text) => ({ text, before: 0, after: 0 })),
    ...inBase64(bytes),
    // Encoded once more, like a kubeconfig's key in a Secret.
    ...inBase64(bytes).flatMap(({ text }) => inBase64(Buffer.from(text, 'latin1'))),
  ];
}

const KEY_LINE = /^[A-Za-z0-9+/]{64}$/;

/** In JSON with a line for each. */
const INDENTED = [2, 4, 6, 8, 10, 12].map((blanks) => `,\n${' '.repeat(blanks)}`);

/** Each byte on its own: in hex as Go, openssl and the audit log write it, in lists, in escapes. */
function byteSpellings(bytes: Buffer): string[] {
  if (bytes.length > MAX_HEX) return [];
  const digits = bytes.toString('hex');
  const pairs = digits.match(/../g) ?? [];
  const lower = [digits, ...[' ', ':', '-'].map((joint) => pairs.join(joint))];
  const inHex = [...lower, ...lower.map((text) => text.toUpperCase())];
  if (bytes.length > MAX_LISTED) return inHex;
  const codes = Array.from(bytes, (byte) => `0x${byte.toString(16)}`);
  const escaped = (begin: string) => pairs.map((pair) => begin + pair).join('');
  return [
    ...inHex,
    ...[' ', ',', ', ', ...INDENTED].map((joint) => bytes.join(joint)),
    ...[' ', ', '].map((joint) => codes.join(joint)),
    ...[', ', ',', ' '].flatMap((joint) => [
      pairs.map((pair) => `0x${pair}`).join(joint),
      pairs.map((pair) => `0x${pair.toUpperCase()}`).join(joint),
    ]),
    ...['%', '\\x', '\\u00', '\\\\x', '\\\\u00'].flatMap((begin) => [
      escaped(begin),
      pairs.map((pair) => begin + pair.toUpperCase()).join(''),
    ]),
    Array.from(bytes, (byte) => `\\${byte.toString(8).padStart(3, '0')}`).join(''),
    Array.from(bytes, (byte) => `&#${byte};`).join(''),
  ];
}

/** Bytes before the secret in a group of three, and the first character that holds only of it. */
const OFFSETS = [
  { offset: 0, start: 0 },
  { offset: 1, start: 2 },
  { offset: 2, start: 3 },
] as const;

/**
 * Of each of the three ways in which bytes can lie in base64's groups, the characters that
 * depend on nothing before or after them.
 */
function inBase64(bytes: Buffer): Spelling[] {
  return OFFSETS.flatMap(({ offset, start }) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    const bits = (offset + bytes.length) * 8;
    const body = text.slice(start, Math.floor(bits / 6));
    const edges = { before: start === 0 ? 0 : 1, after: bits % 6 === 0 ? 0 : 1 };
    const url = body.replaceAll('+', '-').replaceAll('/', '_');
    return (url === body ? [body] : [body, url]).map((spelled) => ({ text: spelled, ...edges }));
  });
}
