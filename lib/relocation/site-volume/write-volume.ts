import { join } from 'node:path';
import type { Encrypter } from 'age-encryption';
import { writeFilesAtomic } from '../../host/files.ts';
import { encryptFiles } from './archive.ts';
import { filesWithKeys } from './keys.ts';
import { FORMAT_VERSION, listedFiles, manifestText, parseVolumeManifest } from './manifest.ts';
import { refused } from './refused.ts';
import { emptyResults } from './result.ts';
import { VOLUME_FILES, VOLUME_LIMITS } from './volume.ts';

export interface NewVolume {
  /** site-config.yaml, the files that it names, extra-manifests and credentials, by their path. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  readonly serial: number;
  readonly hosts: readonly string[];
  readonly validUntil: Date | undefined;
  readonly createdAt: Date;
  /** Undefined: the files are on the volume as they are. */
  readonly encrypter: Encrypter | undefined;
  /** Returns the signature of a text; undefined: the volume is not signed. */
  readonly sign: ((text: string) => Promise<string>) | undefined;
}

/**
 * The files of a medium.
 *
 * @throws Failure (usage) for more than a volume may have, and for a private key that would not be encrypted
 */
export async function volumeFiles(
  volume: NewVolume,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const { files, encrypter, sign } = volume;
  await requireFitting(volume, signal);
  const outer =
    encrypter === undefined
      ? files
      : new Map([[VOLUME_FILES.encrypted, await encryptFiles(files, encrypter)]]);
  const text = manifestText({
    apiVersion: 'sno-agents/v1',
    kind: 'SiteVolume',
    formatVersion: FORMAT_VERSION,
    serial: volume.serial,
    createdAt: volume.createdAt.toISOString(),
    ...(volume.validUntil === undefined ? {} : { validUntil: volume.validUntil.toISOString() }),
    hosts: [...volume.hosts],
    encrypted: encrypter !== undefined,
    files: listedFiles(outer),
  });
  parseVolumeManifest(text);
  const signature = await sign?.(text);
  return new Map([
    ...outer,
    ...emptyResults(outer.has(VOLUME_FILES.adminRequest)),
    ...(signature === undefined ? [] : [entry(VOLUME_FILES.signature, signature)]),
    // Last: a medium without it is not used.
    entry(VOLUME_FILES.manifest, text),
  ]);
}

const entry = (path: string, text: string): [string, Uint8Array] => [path, Buffer.from(text)];

/** @throws Failure (usage) for more than a volume may have, and for a private key that would not be encrypted */
export async function requireFitting(
  { files, encrypter }: Pick<NewVolume, 'files' | 'encrypter'>,
  signal: AbortSignal,
): Promise<void> {
  const bytes = [...files.values()].reduce((sum, { length }) => sum + length, 0);
  // The archive's headers; the manifest, its signature and what the node writes.
  const most = { files: VOLUME_LIMITS.files - 4, bytes: VOLUME_LIMITS.bytes - (1 << 20) };
  if (files.size > most.files || bytes > most.bytes) {
    throw refused('the volume would be too large', {
      expected: `at most ${most.files} files and ${most.bytes} bytes`,
      found: `${files.size} files and ${bytes} bytes`,
      fix: 'Nothing was written. Put several manifests into one file.',
    });
  }
  const withKeys = encrypter === undefined ? await filesWithKeys(files, signal) : [];
  if (withKeys.length === 0) return;
  throw refused('a private key or a token is never written to a volume that is not encrypted', {
    found: withKeys.join(', '),
    fix: 'Nothing was written. Encrypt the volume to the node with --recipient, or let the host make the key.',
  });
}

/** Writes them into an existing folder, each synced, the manifest last. */
export async function writeVolume(
  folder: string,
  files: ReadonlyMap<string, Uint8Array>,
): Promise<void> {
  const all = [...files].map(([path, contents]) => ({
    path: join(folder, path),
    contents,
    mode: 0o600,
  }));
  await writeFilesAtomic(all.slice(0, -1));
  await writeFilesAtomic(all.slice(-1));
}
