import { isUtf8 } from 'node:buffer';
import { gunzipSync, gzipSync } from 'node:zlib';
import { decodeDataUrl } from '../../base/data-url.ts';
import type { Budget } from '../bytes/budget.ts';
import { isSecretValue } from './names.ts';
import { looksRandom } from './values.ts';

/** A larger file is not shown. */
const MAX_BYTES = 1 << 20;
/** Longer ones are texts, in which names tell what is a secret. */
const MAX_BARE = 256;
const MAX_WORDS = 6;
/** Of a short file, each byte of which can be percent-encoded. */
const MAX_ENCODED = 3 * MAX_BARE;

/** The contents of a file in a data URL, which can be shown. */
interface Body {
  readonly text: string;
  /** The URL with other contents in the same form. */
  readonly with: (text: string) => string;
}

/** Undefined if it is not text, is larger than the budget allows, or cannot be decoded. */
export function bodyOf(source: string, budget: Budget): Body | undefined {
  const comma = source.indexOf(',');
  const head = source.slice(0, comma + 1);
  try {
    const bytes = decodeDataUrl({ source });
    const limit = Math.min(MAX_BYTES, budget.left);
    const isPacked = isGzip(bytes);
    const contents = isPacked ? gunzipSync(bytes, { maxOutputLength: limit + 1 }) : bytes;
    if (contents.length > limit || !budget.spend(contents.length) || !isText(contents)) {
      return undefined;
    }
    return {
      text: contents.toString('utf8'),
      with: (text) => {
        if (!/;base64,$/i.test(head)) return head + encodeURIComponent(text);
        const plain = Buffer.from(text, 'utf8');
        return head + (isPacked ? gzipSync(plain) : plain).toString('base64');
      },
    };
  } catch {
    return undefined;
  }
}

const isGzip = (bytes: Buffer) => bytes[0] === 0x1f && bytes[1] === 0x8b;
const isText = (bytes: Buffer) => isUtf8(bytes) && !bytes.includes(0);

const WORD = /[^\s"'=:,;]+/g;

/** Digests and UUIDs. */
const IDENTIFIER = /^[0-9a-f-]{16,128}$/i;
const IDENTIFIERS = /(?:id|uuid|sum|digest|sha\d{1,3})$/i;

/** A word, or a phrase that assigns nothing. */
const ONE_VALUE = /^(?:\S+|[^\n=:(]+)$/;

/** A file of a few words, one of which can only be a secret. `name`: the file's. */
export function bareSecrets(text: string, name = ''): string[] {
  const body = text.trim();
  if (body.length > MAX_BARE) return [];
  const words = body.match(WORD) ?? [];
  if (words.length > MAX_WORDS) return [];
  const isIdentifier = IDENTIFIER.test(body) && IDENTIFIERS.test(name);
  const isValue = ONE_VALUE.test(body) && isSecretValue(name, body);
  if (!isIdentifier && (isValue || isMade(body))) return [body];
  const [, key, value] = /^([\w.-]{1,100})\s?[=:]\s?["']?(\S+?)["']?$/.exec(body) ?? [];
  if (key !== undefined && value !== undefined && isSecretValue(key, value)) return [value];
  const isDigest = (word: string) => IDENTIFIER.test(word) && (isIdentifier || /\s/.test(body));
  return words.filter((word) => looksRandom(word) && !isDigest(word));
}

/** One word that is neither a number nor a name. */
const isMade = (word: string) =>
  /^[^\s/.:<>=-]{8,}$/.test(word) && /\d/.test(word) && /[A-Za-z]/.test(word);

/**
 * Whether a data URL in a text must be removed as a whole: it cannot be decoded, or is nothing but a secret. Packed or
 * longer contents are searched like base64 elsewhere.
 */
export function isSecretUrl(source: string): boolean {
  const body = source.slice(source.indexOf(',') + 1);
  const isBase64 = /^[^,]{0,400};base64,/i.test(source);
  const isDecodable = isBase64
    ? body.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(body)
    : !/%(?![0-9a-f]{2})/i.test(body);
  if (!isDecodable) return true;
  if (body.length > MAX_ENCODED) return false;
  const bytes = decodeDataUrl({ source });
  return !isGzip(bytes) && (!isText(bytes) || bareSecrets(bytes.toString('utf8')).length > 0);
}
