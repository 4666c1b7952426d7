import type { Pattern } from './pattern.ts';

const AT = 0x40;
const COLON = 0x3a;
/** Longest user and password together. */
const MAX_LENGTH = 200;

/** `user:password@host:port`, without a scheme; lower-case letters alone are a user. */
export const USER_INFO: Pattern = {
  triggers: [],
  find: /(?<=(?:^|[\s"'`=,([{<|\0])(?!(?:https?|mailto|sips?|xmpp|acct|im|ssh|git|docker|oci|pkg|npm):)[A-Za-z0-9][\w.-]{0,63}:(?<secret>(?![a-z][a-z._-]+@[\w.-]+:)[^\s:"'/\\]{1,128}))@(?=(?:[A-Za-z0-9][\w.-]{0,253}|\[[\da-f:]{2,40}\]):\d{2,5}(?!\w))/dy,
};

/** Where an `@` stands after a word with a colon, and not before a digest. */
export function userInfoSigns(bytes: Buffer): number[] {
  const offsets: number[] = [];
  /** The last one of the word that is read. */
  let colon = Number.NEGATIVE_INFINITY;
  let read = 0;
  for (let at = bytes.indexOf(AT); at !== -1; at = bytes.indexOf(AT, at + 1)) {
    // Each byte once, however many signs there are.
    for (let next = Math.max(read, at - MAX_LENGTH); next < at; next++) {
      const byte = bytes[next] ?? 0;
      if (byte === COLON) colon = next;
      else if (endsWord(byte)) colon = Number.NEGATIVE_INFINITY;
    }
    read = at;
    const length = at - colon;
    const isUserInfo = length > 1 && length <= MAX_LENGTH;
    if (isUserInfo && bytes.toString('latin1', at + 1, at + 4) !== 'sha') offsets.push(at);
  }
  return offsets;
}

/** A blank, a quote, or a slash: not part of a password. */
const endsWord = (byte: number) => byte <= 0x20 || byte === 0x22 || byte === 0x27 || byte === 0x2f;
