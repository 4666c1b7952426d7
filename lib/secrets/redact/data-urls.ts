import { isUtf8 } from 'node:buffer';
import { gunzipSync, gzipSync } from 'node:zlib';
import { decodeDataUrl } from '../../ignition/data-url.ts';
import { isNothing, isSecretValue, looksRandom } from './names.ts';

/** A larger file is not shown. */
const MAX_BYTES = 1 << 20;
/** Longer ones are texts, in which names tell what is a secret. */
const MAX_BARE = 256;
const MAX_WORDS = 6;

/** The contents of a file in a data URL, which can be shown. */
interface Body {
  readonly text: string;
  /** The URL with other contents in the same form. */
  readonly with: (text: string) => string;
}

/** Undefined if it is no text, too large, or cannot be decoded. */
export function bodyOf(source: string): Body | undefined {
  const comma = source.indexOf(',');
  const head = source.slice(0, comma + 1);
  const isBase64 = /;base64,$/i.test(head);
  try {
    const bytes = decodeDataUrl({ source });
    const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b;
    const contents = isPacked ? gunzipSync(bytes, { maxOutputLength: MAX_BYTES }) : bytes;
    if (contents.length > MAX_BYTES || !isUtf8(contents) || contents.includes(0)) return undefined;
    return {
      text: contents.toString('utf8'),
      with: (text) => {
        if (!isBase64) return head + encodeURIComponent(text);
        const plain = Buffer.from(text, 'utf8');
        return head + (isPacked ? gzipSync(plain) : plain).toString('base64');
      },
    };
  } catch {
    return undefined;
  }
}

const WORD = /[^\s"'=:,;]+/g;

/** A file of a few words, one of which can only be a secret. `name`: the file's. */
export function bareSecrets(text: string, name = ''): string[] {
  const body = text.trim();
  if (body.length > MAX_BARE || isNothing(body)) return [];
  const words = body.match(WORD) ?? [];
  if (words.length > MAX_WORDS) return [];
  if (!/\s/.test(body) && (isSecretValue(name, body) || isMade(body))) return [body];
  const [, key, value] = /^([\w.-]{1,100})\s?[=:]\s?["']?(\S+?)["']?$/.exec(body) ?? [];
  if (key !== undefined && value !== undefined && isSecretValue(key, value)) return [value];
  return words.filter((word) => !isNothing(word) && looksRandom(word));
}

/** One word that is no number and no name. */
const isMade = (word: string) =>
  /^[^\s/.:<>=-]{8,}$/.test(word) && /\d/.test(word) && /[A-Za-z]/.test(word);

/** Whether a data URL in a text has to go as a whole: nobody can see what is in it, or it is nothing but a secret. */
export function isSecretUrl(source: string): boolean {
  const body = bodyOf(source);
  return body === undefined || bareSecrets(body.text).length > 0;
}
