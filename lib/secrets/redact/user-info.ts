import type { Pattern } from './pattern.ts';

const AT = 0x40;
const COLON = 0x3a;
/** Longest user and password together. */
const MAX_LENGTH = 200;

/** `user:password@host:port`, without a scheme. */
export const USER_INFO: Pattern = {
  triggers: [],
  find: /(?<=(?:^|[\s"'`=,([{<|\0])(?!(?:https?|mailto|sips?|xmpp|acct|im|ssh|git|docker|oci|pkg|npm):)[A-Za-z0-9][\w.-]{0,63}:(?<secret>[^\s:"'/\\]{1,128}))@(?=(?:[A-Za-z0-9][\w.-]{0,253}|\[[\da-f:]{2,40}\]):\d{2,5}(?!\w))/dy,
};

/** Where an `@` stands after a word with a colon, and not before a digest. */
export function userInfoSigns(bytes: Buffer): number[] {
  const offsets: number[] = [];
  for (let at = bytes.indexOf(AT); at !== -1; at = bytes.indexOf(AT, at + 1)) {
    if (bytes.toString('latin1', at + 1, at + 4) !== 'sha' && isAfterColon(bytes, at)) {
      offsets.push(at);
    }
  }
  return offsets;
}

function isAfterColon(bytes: Buffer, at: number): boolean {
  for (let before = at - 1; before >= Math.max(0, at - MAX_LENGTH); before--) {
    const byte = bytes[before] ?? 0;
    // A blank, a quote, or a slash: nothing of a password's.
    if (byte <= 0x20 || byte === 0x22 || byte === 0x27 || byte === 0x2f) return false;
    if (byte === COLON) return before < at - 1;
  }
  return false;
}
