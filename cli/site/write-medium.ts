import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import { writeVolume } from '../../lib/relocation/site-volume/write-volume.ts';
import { writeLargeFile } from '../create/large-file.ts';
import { makeNewFolder } from '../create/new-folder.ts';
import { createMedium } from '../iso/create-medium.ts';
import { requireProgram } from '../process/program.ts';

/** The label that fits every file system; hosts do not tell upper and lower case apart. */
export const SITE_LABEL = 'SITE-CONFIG';

const EXTRACT_MS = 60_000;

export interface SiteMedium {
  readonly kind: 'iso' | 'folder';
  /** Of the new file or folder. */
  readonly path: string;
}

/** Writes the files of a volume; `then` is part of it: if it fails, nothing appears. */
export async function writeMedium(
  { kind, path }: SiteMedium,
  files: ReadonlyMap<string, Uint8Array>,
  signal: AbortSignal,
  then: () => Promise<void>,
): Promise<void> {
  if (kind === 'folder') {
    await makeNewFolder(path, async (staging) => {
      await writeVolume(staging, files);
      await then();
    });
    return;
  }
  // Beside the ISO: the folder of many volumes is cleared of it if this process is killed.
  await inTemporary(async (staging) => {
    for (const [name, contents] of files) await place(join(staging, name), contents);
    const added = [...files.keys()].map((name) => ({
      source: join(staging, name),
      path: `/${name}`,
      mode: 0o644,
    }));
    await writeLargeFile(path, undefined, signal, async (iso) => {
      await createMedium({ iso, label: SITE_LABEL, folder: '/', files: added, signal });
      await then();
    });
  }, dirname(path));
}

/** Without a sync: only the ISO that is made of it has to last. */
async function place(path: string, contents: Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeFile(path, contents, { mode: 0o600, flag: 'wx' });
}

/** Passes `use` the files of an ISO in a folder. */
export async function withIso<T>(
  iso: string,
  signal: AbortSignal,
  use: (folder: string) => Promise<T>,
): Promise<T> {
  return inTemporary(async (folder) => {
    const target = join(folder, 'volume');
    await requireProgram(
      'xorriso',
      ['-no_rc', '-osirrox', 'on', '-indev', `stdio:${iso}`, '-extract', '/', target],
      { signal, deadlineMs: EXTRACT_MS },
    ).catch((error: unknown) => {
      const found = error instanceof Failure ? (error.details.found ?? '') : '';
      // By its exit code it has read the image, and there was room for the files.
      if (!found.startsWith('exit code') || found.includes('No space left')) throw error;
      throw new Failure('usage', `${iso} cannot be read whole; nothing was changed`, {
        found,
        fix: 'Compare it with the one that was made, and copy it again.',
      });
    });
    return use(target);
  });
}

/** Passes `use` a folder that only the user can open. */
export async function inTemporary<T>(
  use: (folder: string) => Promise<T>,
  parent = tmpdir(),
): Promise<T> {
  const folder = await mkdtemp(join(parent, '.sno-site-'));
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
