import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { hostPaths } from '../../../lib/host/paths.ts';
import { sealed } from '../../../lib/secrets/seal/envelope.ts';
import { copyOf, sealKey } from '../../../lib/secrets/seal/files.ts';
import { isInSealedFolder, sealPlaces } from '../../../lib/secrets/seal/places.ts';
import type { HostContext } from '../../steps/host-context.ts';

/** A file or a folder of the installed host. */
interface Entry {
  readonly path: string;
  readonly mode: number;
}
export interface FileEntry extends Entry {
  readonly contents: string | Uint8Array;
}
interface Entries {
  readonly directories: readonly Entry[];
  readonly files: readonly FileEntry[];
}

const installed = hostPaths();

/**
 * The same files and folders as a sealed host has them on its disk: of those in sealed folders only sealed copies, and the
 * key of these copies, as its sno-unseal expects it.
 */
export async function asOnDisk(
  { paths, cluster }: Pick<HostContext, 'paths' | 'cluster'>,
  entries: Entries,
): Promise<Entries> {
  if (cluster.sealSecrets === undefined) return entries;
  const key = await sealKey(paths);
  if (key === undefined) {
    throw new Failure('fatal', 'the key of the sealed files does not exist', {
      fix: 'Run the step seal-key first.',
    });
  }
  const places = sealPlaces(installed);
  const keyFile =
    cluster.sealSecrets === 'tpm2'
      ? { path: places.credential, contents: await readFile(sealPlaces(paths).credential) }
      : { path: places.handedOver, contents: key };
  const directories = entries.directories.map(({ path, mode }) => ({
    path: isInSealedFolder(path) ? copyOf(installed, path) : path,
    mode,
  }));
  const files = entries.files.map(({ path, mode, contents }) =>
    isInSealedFolder(path)
      ? { path: copyOf(installed, path), mode, contents: sealed(key, path, contents) }
      : { path, mode, contents },
  );
  return {
    directories: [...parentsOf(places.copies, directories), ...directories],
    files: [...files, { ...keyFile, mode: 0o600 }],
  };
}

/** Ignition would create the folders above the copies with 0755. */
function parentsOf(copies: string, directories: readonly Entry[]): Entry[] {
  const known = new Set(directories.map(({ path }) => path));
  const parents = new Set<string>([dirname(copies), copies]);
  for (const { path } of directories) {
    for (let folder = dirname(path); folder.startsWith(`${copies}/`); folder = dirname(folder)) {
      if (!known.has(folder)) parents.add(folder);
    }
  }
  return [...parents].toSorted().map((path) => ({ path, mode: 0o700 }));
}
