/** 1: a base64 character; 2: the percent sign, which may stand for one. */
const classes = new Uint8Array(256);
for (const character of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/') {
  classes[character.charCodeAt(0)] = 1;
}
classes['%'.charCodeAt(0)] = 2;

/** A stretch shorter than this begins no base64 text: lines of PEM have 64 characters. */
export const shortestStretch = 40;

/**
 * The start of the next stretch of at least `shortestStretch` base64 characters, or
 * -1. Looks at one byte in `shortestStretch` where there is none, as a search for a
 * string by its last character does.
 */
export function nextStretch(window: Buffer, from: number): number {
  let first = from;
  for (let last = from + shortestStretch - 1; last < window.length; ) {
    let at = last;
    while (at >= first && classes[window[at] ?? 0] !== 0) at -= 1;
    if (at < first) return first;
    first = at + 1;
    last = at + shortestStretch;
  }
  return -1;
}

/** What stands between two base64 characters of one text. */
type Joint = { readonly kind: 'character' | 'gap'; readonly text: string; readonly length: number };

/** The longest joint looked at: a line break with its indentation. */
const longestJoint = 160;
const jointStarts = new Set([...'\t\n\r %\\'].map((character) => character.charCodeAt(0)));
/** Line breaks as they are, as JSON escapes them (also twice) and as URLs do, with indentation. */
const gap = /^(?:[ \t]*(?:\r|\n|\\+[nr]|%(?:25)*0[AD]))+(?:[ \t]|%(?:25)*(?:20|09))*|^\\+(?=\/)/i;
/** `+` and `/` in a URL, also escaped twice. */
const escapedCharacter = /^%(?:25)*2([BF])/i;

function jointAt(window: Buffer, at: number): Joint | undefined {
  if (!jointStarts.has(window[at] ?? 0)) return undefined;
  const text = window.toString('latin1', at, at + longestJoint);
  const character = escapedCharacter.exec(text);
  if (character !== null) {
    const plain = character[1]?.toUpperCase() === 'B' ? '+' : '/';
    return { kind: 'character', text: plain, length: character[0].length };
  }
  const found = gap.exec(text);
  return found === null ? undefined : { kind: 'gap', text: '', length: found[0].length };
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
    let end = at;
    while (classes[window[end] ?? 0] === 1) end += 1;
    if (end > at) pieces.push(window.toString('latin1', at, end));
    const mayJoin = end === window.length || jointStarts.has(window[end] ?? 0);
    if (mayJoin && !final && window.length - end < longestJoint) {
      return { text: pieces.join(''), end, open: true };
    }
    const joint = end < window.length ? jointAt(window, end) : undefined;
    if (joint === undefined) return { text: pieces.join(''), end, open: false };
    pieces.push(joint.text);
    at = end + joint.length;
  }
}
