import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { IgnitionResource } from './config.ts';

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
): IgnitionResource {
  const bytes = Buffer.from(contents);
  const candidates: IgnitionResource[] = [];
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

function cost(resource: IgnitionResource): number {
  return JSON.stringify(resource).length;
}

/** `sha512-<hex>`, the form of `verification.hash`. */
export function sha512Hash(bytes: Uint8Array): string {
  return hashAs('sha512', bytes);
}

/** Whether the decompressed bytes match the resource's hash; true if it has none. */
export function matchesHash({ verification }: IgnitionResource, bytes: Uint8Array): boolean {
  const hash = verification?.hash;
  return hash === undefined || hash === hashAs(hash.slice(0, hash.indexOf('-')), bytes);
}

function hashAs(algorithm: string, bytes: Uint8Array): string {
  return `${algorithm}-${createHash(algorithm).update(bytes).digest('hex')}`;
}
