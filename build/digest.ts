import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';

/** The digest of a file of any size. */
export async function fileDigest(
  path: string,
  algorithm: string,
  encoding: 'hex' | 'base64',
): Promise<string> {
  const hash = createHash(algorithm);
  await pipeline(createReadStream(path), hash);
  return hash.digest(encoding);
}
