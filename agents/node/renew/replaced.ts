import { join } from 'node:path';
import {
  namesIn,
  readTextIfPresent,
  removeFile,
  writeFileAtomic,
} from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';

/**
 * Replaced certificates, kept until their successors are proven. A renewal that was killed in
 * between is continued from here. They contain no keys: a renewed leaf keeps its key.
 */
const folder = ({ state }: HostPaths) => join(state, 'sno-renew', 'replaced');
const file = (paths: HostPaths, name: string) => join(folder(paths), `${name}.crt`);

/** Names of the leaves whose renewal has begun and not ended. */
export async function interruptedLeaves(paths: HostPaths): Promise<string[]> {
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
