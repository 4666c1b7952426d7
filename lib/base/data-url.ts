import { gunzipSync } from 'node:zlib';
import { Failure } from './errors/failure.ts';

/** Decompressed size above which a data URL is rejected: nothing near it fits /boot. */
const MAX_DECODED_BYTES = 512 * 1024 * 1024;

/** Contents in a URL, as Ignition has them (RFC 2397); `compression`: `gzip`, or nothing. */
interface Encoded {
  readonly source?: string | null | undefined;
  readonly compression?: string | null | undefined;
}

export function isDataUrl(source: string | undefined): boolean {
  return source?.slice(0, 'data:'.length).toLowerCase() === 'data:';
}

/**
 * The decompressed bytes of a data URL; the hash is not checked. @throws Failure
 * (fatal) if the source is not a data URL, cannot be decoded or has more than `mostBytes`
 */
export function decodeDataUrl(
  { source, compression }: Encoded,
  mostBytes: number = MAX_DECODED_BYTES,
): Buffer {
  const [, base64, body] = source?.match(/^data:[^,]*?(;base64)?,(.*)$/is) ?? [];
  if (body === undefined) throw undecodable('it is not a data URL');
  const bytes = base64 === undefined ? fromPercent(body) : fromBase64(body);
  if (compression !== 'gzip') return bytes;
  try {
    return gunzipSync(bytes, { maxOutputLength: mostBytes });
  } catch (error) {
    // ERR_BUFFER_TOO_LARGE; what is damaged is another kind of error.
    const isLarge = error instanceof RangeError;
    const most = `${Math.floor(mostBytes / 2 ** 20)} MiB`;
    throw undecodable(isLarge ? `it is more than ${most} decompressed` : 'it is not gzip');
  }
}

function fromBase64(body: string): Buffer {
  const text = decodeURIComponentOrThrow(body);
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) {
    throw undecodable('it is not base64');
  }
  return Buffer.from(text, 'base64');
}

/** Percent-encoded bytes need not be UTF-8, so each escape is one byte. */
function fromPercent(body: string): Buffer {
  if (/%(?![0-9A-Fa-f]{2})/.test(body)) throw undecodable('it has an invalid percent escape');
  const latin1 = Buffer.from(body, 'utf8')
    .toString('latin1')
    .replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
  return Buffer.from(latin1, 'latin1');
}

function decodeURIComponentOrThrow(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    throw undecodable('it has an invalid percent escape');
  }
}

function undecodable(why: string): Failure {
  return new Failure('fatal', `A source cannot be decoded: ${why}`);
}
