import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
  await inTemporary(async (staging) => {
    await writeVolume(staging, files);
    const added = [...files.keys()].map((name) => ({
      source: join(staging, name),
      path: `/${name}`,
      mode: 0o644,
    }));
    await writeLargeFile(path, undefined, signal, async (iso) => {
      await createMedium({ iso, label: SITE_LABEL, folder: '/', files: added, signal });
      await then();
    });
  });
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
    );
    return use(target);
  });
}

/** Passes `use` a folder that only the user can open. */
export async function inTemporary<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'sno-site-'));
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
