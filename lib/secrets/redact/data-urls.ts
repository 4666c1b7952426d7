import { isUtf8 } from 'node:buffer';
import { gzipSync } from 'node:zlib';
import { decodeDataUrl } from '../../base/data-url.ts';
import { isSecretValue } from './names.ts';
import { looksRandom } from './values.ts';

/** Longer ones are texts, in which names tell what is a secret. */
const MAX_BARE = 256;
const MAX_WORDS = 6;

/** Base64 of a document; packed if `base64` is. */
export const reencoded = (base64: string, document: Buffer): string =>
  (base64.startsWith('H4sI') ? gzipSync(document) : document).toString('base64');

/** One word that is neither a number nor a name. */
const isMade = (text: string) =>
  /^[^\s/.:<>=-]{8,}$/.test(text) && /\d/.test(text) && /[A-Za-z]/.test(text);

/**
 * Whether a data URL in a text must be removed as a whole: it cannot be decoded, or is a file of a few words, one of
 * which can only be a secret. Packed or longer contents are searched like base64 elsewhere.
 */
export function isSecretUrl(source: string): boolean {
  const text = textOf(source);
  if (text === undefined) return true;
  // Too short for base64 that is searched.
  const [, key = '', value = ''] =
    /^([\w.-]{1,40})\s?[=:]\s?["']?(\S{1,40}?)["']?$/.exec(text) ?? [];
  const isBase64 = /^[^,]{0,400};base64,/i.test(source);
  return isBareSecret(text) || (isBase64 && isSecretValue(key, value));
}

/** Nothing if it is packed. */
function textOf(source: string): string | undefined {
  try {
    const bytes = decodeDataUrl({ source });
    if (bytes[0] === 0x1f && bytes[1] === 0x8b) return '';
    return isUtf8(bytes) && !bytes.includes(0) ? bytes.toString('utf8').trim() : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a file is a few words, one of which can only be a secret: no digest or UUID beside a name. */
export function isBareSecret(file: string): boolean {
  const text = file.trim();
  if (text.length > MAX_BARE) return false;
  const words = text.match(/[^\s"'=:,;]+/g) ?? [];
  const isDigest = (word: string) => /\s/.test(text) && /^[0-9a-f-]{16,128}$/i.test(word);
  const isSecret = words.some((word) => looksRandom(word) && !isDigest(word));
  return isMade(text) || (words.length <= MAX_WORDS && isSecret);
}
