import { Canonical } from './canonical.ts';

/** A way in which a secret can be written, as latin1 characters, one for each byte. */
export interface Spelling {
  readonly text: string;
  /** Characters before and after it that hold a part of the secret too. */
  readonly before: number;
  readonly after: number;
}

/** What longer ones give when they are encoded twice is decoded as a document. */
const MAX_TWICE = 16;

const canonical = new Canonical();
const whole = (text: string): Spelling => ({ text, before: 0, after: 0 });
const canonicalOf = (text: string | Buffer) => canonical.of(Buffer.from(text)).toString('latin1');

export const verbatim = (secret: string): Spelling =>
  whole(Buffer.from(secret, 'utf8').toString('latin1'));

/** In canonical text: as it is, and in base64. */
export function spellingsOf(secret: string): Spelling[] {
  const bytes = Buffer.from(secret, 'utf8');
  const once = inBase64(bytes);
  const twice =
    bytes.length > MAX_TWICE ? [] : once.flatMap(({ text }) => inBase64(Buffer.from(text)));
  const encoded = [...once, ...twice].map((spelling) => ({
    ...spelling,
    text: canonicalOf(spelling.text),
  }));
  return [whole(canonicalOf(bytes)), ...encoded];
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
