const characters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** By byte: whether it belongs to a set of characters. */
export type CharacterSet = Uint8Array;

export const setOf = (text: string): CharacterSet => {
  const set = new Uint8Array(256);
  for (const character of text) set[character.charCodeAt(0)] = 1;
  return set;
};

/** As in PEM and data. */
export const base64 = setOf(characters);
/** Also with the characters that stand for `+` and `/` in URLs, as in web tokens. */
export const anyBase64 = setOf(`${characters}-_`);
/** What base64 in a percent-encoded document consists of. */
export const percentBase64 = setOf(`${characters}%`);
/** Of digests and UUIDs: no base64 of a key or of a text is without the other characters. */
export const identifier = setOf('0123456789abcdefABCDEF-');
export const isHexadecimal = (text: string): boolean => /^[0-9a-f]+$/i.test(text);

/**
 * The start of the next run of at least `shortest` characters of a set, or -1. Looks at one
 * byte in `shortest` where there is none, as a search for a string by its last character does.
 */
export function nextRun(bytes: Buffer, from: number, shortest: number, set: CharacterSet): number {
  let first = from;
  for (let last = from + shortest - 1; last < bytes.length; ) {
    let at = last;
    while (at >= first && set[bytes[at] ?? 0] === 1) at -= 1;
    if (at < first) return first;
    first = at + 1;
    last = at + shortest;
  }
  return -1;
}

/** The end of the run that begins at `at`. */
export function runEnd(bytes: Buffer, at: number, set: CharacterSet): number {
  let end = at;
  while (set[bytes[end] ?? 0] === 1) end += 1;
  return end;
}

/** What stands between two runs of one text, or for a character of it. */
interface Joint {
  /** The character, or nothing. */
  readonly text: string;
  readonly length: number;
}

/** The longest joint looked at: a line break with its indentation. */
const longestJoint = 160;
const jointStarts = setOf('\t\n\r %\\');
/** Line breaks as they are, as JSON escapes them (also twice) and as URLs do, with indentation. */
const anyGap =
  /^(?:[ \t]*(?:\r|\n|\\+[nr]|%(?:25)*0[AD]))+(?:[ \t]|%(?:25)*(?:20|09))*|^\\+(?=\/)/i;
/** `+` and `/` in a URL, also escaped twice. */
const escapedCharacter = /^%(?:25)*2([BF])/i;

const mayBeJoint = (byte: number | undefined): boolean => jointStarts[byte ?? 0] === 1;

function jointAt(bytes: Buffer, at: number): Joint | undefined {
  if (!mayBeJoint(bytes[at])) return undefined;
  const text = bytes.toString('latin1', at, at + longestJoint);
  const character = escapedCharacter.exec(text);
  if (character !== null) {
    return { text: character[1]?.toUpperCase() === 'B' ? '+' : '/', length: character[0].length };
  }
  const length = anyGap.exec(text)?.[0].length;
  return length === undefined ? undefined : { text: '', length };
}

/**
 * Reads base64 text on from an offset, without line breaks and escapes. `open`: the
 * text goes on, or may go on, after the window; the rest is read from `end`.
 */
export function readBase64(
  window: Buffer,
  from: number,
  final: boolean,
): { text: string; end: number; open: boolean } {
  const pieces: string[] = [];
  for (let at = from; ; ) {
    const end = runEnd(window, at, base64);
    if (end > at) pieces.push(window.toString('latin1', at, end));
    const mayJoin = end === window.length || mayBeJoint(window[end]);
    if (mayJoin && !final && window.length - end < longestJoint) {
      return { text: pieces.join(''), end, open: true };
    }
    const joint = end < window.length ? jointAt(window, end) : undefined;
    if (joint === undefined) return { text: pieces.join(''), end, open: false };
    pieces.push(joint.text);
    at = end + joint.length;
  }
}
