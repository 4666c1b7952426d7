import { join } from 'node:path';
import {
  namesIn,
  readTextIfPresent,
  removeFile,
  writeFileAtomic,
} from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';

/**
 * Replaced certificates, kept until their successors are proven or they are restored. The next run
 * continues from here if this one is killed in between, or if the successor was refused when the
 * replaced one had expired. They contain no keys: a renewed leaf keeps its key.
 */
const folder = ({ state }: HostPaths) => join(state, 'sno-renew', 'replaced');
const file = (paths: HostPaths, name: string) => join(folder(paths), `${name}.crt`);

/** Names of the leaves whose renewal has begun and whose new certificate is not proven. */
export async function unprovenLeaves(paths: HostPaths): Promise<string[]> {
  const names = await namesIn(folder(paths));
  return names.flatMap((name) => (/^[a-z][a-z-]*\.crt$/.test(name) ? [name.slice(0, -4)] : []));
}

export async function keepReplaced(paths: HostPaths, name: string, pem: string): Promise<void> {
  await writeFileAtomic(file(paths, name), pem, 0o600);
}

export async function readReplaced(paths: HostPaths, name: string): Promise<string | undefined> {
  return readTextIfPresent(file(paths, name));
}

export async function dropReplaced(paths: HostPaths, name: string): Promise<void> {
  await removeFile(file(paths, name));
}
