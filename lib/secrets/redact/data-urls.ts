import { isUtf8 } from 'node:buffer';
import { gzipSync } from 'node:zlib';
import { decodeDataUrl } from '../../base/data-url.ts';
import { isSecretValue } from './names.ts';
import { looksRandom } from './values.ts';

/** Longer ones are texts, in which names tell what is a secret. */
const MAX_BARE = 256;
const MAX_WORDS = 6;

/** Base64 of a text, as latin1; packed if `base64` is. */
export function reencoded(base64: string, text: string): string {
  const bytes = Buffer.from(text, 'latin1');
  return (base64.startsWith('H4sI') ? gzipSync(bytes) : bytes).toString('base64');
}

/** One word that is neither a number nor a name. */
const isMade = (text: string) =>
  /^[^\s/.:<>=-]{8,}$/.test(text) && /\d/.test(text) && /[A-Za-z]/.test(text);

/**
 * Whether a data URL in a text must be removed as a whole: it cannot be decoded, or is a file of a few words, one of
 * which can only be a secret. Packed or longer contents are searched like base64 elsewhere.
 */
export function isSecretUrl(source: string): boolean {
  const body = source.slice(source.indexOf(',') + 1);
  const isBase64 = /^[^,]{0,400};base64,/i.test(source);
  const isDecodable = isBase64
    ? body.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(body)
    : !/%(?![0-9a-f]{2})/i.test(body);
  if (!isDecodable) return true;
  const bytes = decodeDataUrl({ source });
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) return false;
  if (!isUtf8(bytes) || bytes.includes(0)) return true;
  const text = bytes.toString('utf8').trim();
  // Too short for base64 that is searched.
  const [, key = '', value = ''] =
    /^([\w.-]{1,40})\s?[=:]\s?["']?(\S{1,40}?)["']?$/.exec(text) ?? [];
  return isBareSecret(text) || (isBase64 && isSecretValue(key, value));
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
