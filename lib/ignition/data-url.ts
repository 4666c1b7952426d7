import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { Failure } from '../errors/failure.ts';
import type { Resource } from './config.ts';

/** Decompressed size above which a data URL is rejected: nothing near it fits /boot. */
const MAX_DECODED_BYTES = 512 * 1024 * 1024;

export interface DataUrlOptions {
  /**
   * Whether gzip may be used. Not if the whole config is compressed anyway (the
   * live image's embed area is xz): gzip inside of it only wastes space.
   */
  gzip: boolean;
}

/**
 * Contents as a resource that Ignition can read without a network: percent-encoded,
 * base64 or gzip and base64, whichever is smallest. The hash is of the decompressed
 * bytes, as Ignition checks it.
 */
export function dataUrl(
  contents: string | Uint8Array,
  options: DataUrlOptions = { gzip: true },
): Resource {
  const bytes = Buffer.from(contents);
  const candidates: Resource[] = [];
  if (isUtf8(bytes)) {
    candidates.push({ source: `data:,${encodeURIComponent(bytes.toString('utf8'))}` });
  }
  candidates.push({ source: `data:;base64,${bytes.toString('base64')}` });
  if (options.gzip) {
    const source = `data:;base64,${gzipSync(bytes).toString('base64')}`;
    candidates.push({ source, compression: 'gzip' });
  }
  const smallest = candidates.reduce((best, next) => (cost(next) < cost(best) ? next : best));
  return { ...smallest, verification: { hash: sha512Hash(bytes) } };
}

function cost(resource: Resource): number {
  return JSON.stringify(resource).length;
}

/** `sha512-<hex>`, the form of `verification.hash`. */
export function sha512Hash(bytes: Uint8Array): string {
  return hashAs('sha512', bytes);
}

/** Whether the decompressed bytes match the resource's hash; true if it has none. */
export function matchesHash({ verification }: Resource, bytes: Uint8Array): boolean {
  const hash = verification?.hash;
  return hash === undefined || hash === hashAs(hash.slice(0, hash.indexOf('-')), bytes);
}

function hashAs(algorithm: string, bytes: Uint8Array): string {
  return `${algorithm}-${createHash(algorithm).update(bytes).digest('hex')}`;
}

export function isDataUrl(source: string | undefined): boolean {
  return source?.slice(0, 'data:'.length).toLowerCase() === 'data:';
}

/**
 * The decompressed bytes of a data URL; the hash is not checked. @throws Failure
 * (fatal) if the source is not a data URL or cannot be decoded
 */
export function decodeDataUrl({ source, compression }: Resource): Buffer {
  const [, base64, body] = source?.match(/^data:[^,]*?(;base64)?,(.*)$/is) ?? [];
  if (body === undefined) throw undecodable('it is not a data URL');
  const bytes = base64 === undefined ? fromPercent(body) : fromBase64(body);
  if (compression !== 'gzip') return bytes;
  try {
    return gunzipSync(bytes, { maxOutputLength: MAX_DECODED_BYTES });
  } catch {
    throw undecodable('it is not gzip');
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
