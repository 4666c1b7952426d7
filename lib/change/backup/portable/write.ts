import { constants, createWriteStream } from 'node:fs';
import { access, lstat, rename, rm, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Encrypter } from 'age-encryption';
import { addFile, addText, tarOf } from '../../../base/archive/tar-writer.ts';
import { describeError, Failure } from '../../../base/errors/failure.ts';
import { systemErrorCode } from '../../../base/errors/system-error-code.ts';
import { exists, syncDirectory } from '../../../host/files.ts';
import { type BackupFile, sizeOf } from '../manifest.ts';
import { SIGNATURE_FILE } from './author.ts';
import { HEADER_FILE, type PortableHeader } from './header.ts';

const MIB = 2 ** 20;
/** One system call for several of age's chunks of 64 KiB. */
const GATHERED_BYTES = MIB;

/** Where the contents of a file of the manifest are: in a file with this path, or here. */
export type ContentsOf = (file: BackupFile) => string | Buffer;

/** Base64 of a signature of the text of a header. */
export type Sign = (text: string) => string;

/**
 * The archive of a portable backup in the clear: the header, its signature, and the files of its manifest.
 *
 * @param signs undefined where whoever carries the archive answers for it, as an Ignition config does.
 */
export function archiveOf(
  header: PortableHeader,
  contentsOf: ContentsOf,
  signs: Sign | undefined,
  signal: AbortSignal,
) {
  return tarOf(async (tar) => {
    const text = headerText(header);
    addText(tar, HEADER_FILE, text, 0o600);
    if (signs !== undefined) addText(tar, SIGNATURE_FILE, signs(text), 0o600);
    for (const file of header.manifest.files) {
      const contents = contentsOf(file);
      if (typeof contents === 'string') await addFile(tar, file.path, contents, 0o600, signal);
      else addText(tar, file.path, contents, 0o600);
    }
  });
}

const headerText = (header: PortableHeader) => `${JSON.stringify(header)}\n`;

/**
 * Writes a backup into one encrypted file: a tar archive with the header and the files of the
 * manifest. It streams, needs a few MiB of memory, and appears at `to` (0600) when it is complete and
 * synced.
 *
 * @throws Failure (usage) if `to` cannot be written; Failure (fatal, `backup-no-space`). Nothing
 *   incomplete is left.
 */
export async function writePortable(
  to: string,
  {
    header,
    contentsOf,
    signs,
    encrypter,
  }: {
    header: PortableHeader;
    contentsOf: ContentsOf;
    signs: Sign | undefined;
    encrypter: Encrypter;
  },
  signal: AbortSignal,
): Promise<{ bytes: number }> {
  await requireBackupWritable(to, headerText(header).length + sizeOf(header.manifest));
  const partial = `${to}.partial`;
  await rm(partial, { force: true });
  // Nothing is waited for before it is read: its error would have no listener, and end the process.
  const archive = archiveOf(header, contentsOf, signs, signal);
  try {
    const encrypted = await encrypter.encrypt(Readable.toWeb(Readable.from(archive)));
    const target = createWriteStream(partial, {
      flags: 'wx',
      mode: 0o600,
      highWaterMark: GATHERED_BYTES,
      flush: true,
    });
    await pipeline(encrypted, target, { signal });
    await requireNoBackup(to);
    await rename(partial, to);
  } catch (error) {
    archive.destroy();
    await rm(partial, { force: true });
    signal.throwIfAborted();
    throw systemErrorCode(error) === 'ENOSPC' ? noSpace(to, undefined, error) : error;
  }
  await syncDirectory(dirname(to));
  return { bytes: (await lstat(to)).size };
}

/** @throws Failure (usage) if something is at the path, or its folder does not exist. */
export async function requireNoBackup(to: string): Promise<void> {
  const isThere = await exists(to).catch((cause: unknown) => {
    throw noTarget(to, cause);
  });
  if (isThere) {
    throw new Failure('usage', `${to} exists`, { fix: 'Delete it, or choose another name.' });
  }
}

/**
 * Everything that can be known of the target before a backup is made for it. `bytes`: what is to be
 * written there.
 */
export async function requireBackupWritable(to: string, bytes: number): Promise<void> {
  await requireNoBackup(to);
  const folder = dirname(to);
  const { bavail, bsize } = await statfs(folder).catch((cause: unknown) => {
    throw noTarget(to, cause);
  });
  await access(`${folder}/.`, constants.W_OK).catch((cause: unknown) => {
    throw noTarget(to, cause);
  });
  // Tar's headers, and age's digest of every 64 KiB.
  const needed = bytes + bytes / 1024 + MIB;
  if (bavail * bsize < needed) throw noSpace(to, { needed, free: bavail * bsize });
}

const noTarget = (to: string, cause: unknown): Failure =>
  new Failure('usage', `the folder of ${to} cannot be used`, {
    found: describeError(cause),
    fix: 'Create the folder, or mount the medium for writing.',
  });

function noSpace(
  to: string,
  room?: { readonly needed: number; readonly free: number },
  cause?: unknown,
): Failure {
  const inMiB = (bytes: number) => `${Math.ceil(bytes / MIB)} MiB`;
  return new Failure('fatal', `there is no room for ${to}`, {
    code: 'backup-no-space',
    ...(room && { expected: inMiB(room.needed), found: `${inMiB(room.free)} free` }),
    fix: 'Use a larger medium.',
    cause,
  });
}
