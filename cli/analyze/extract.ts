import { mkdir, open, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import type { ArchivedFile } from '../../report/archive/read-archive.ts';
import type { OpenableArchive } from './encrypted-archive.ts';
import { type NotRead, readFiles } from './read-bundle.ts';

/** The old analysis is replaced by the new one. */
const REPORTS = ['report.html', 'report.json', 'SUMMARY.txt'];

/**
 * Unpacks a log bundle into a new or empty folder: regular files only, 0600, in
 * folders of 0700. On an error, what was written is deleted.
 * @throws Failure (usage) if the folder is not empty
 */
export async function extractArchive(
  archive: OpenableArchive,
  folder: string,
  signal: AbortSignal,
): Promise<NotRead[]> {
  await expectEmpty(folder);
  const made = await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    return await readFiles(archive, signal, async (file) => {
      if (!REPORTS.includes(file.name.split('/', 1)[0] ?? '')) await write(folder, file);
    });
  } catch (error) {
    await removeExtracted(folder, made);
    throw error;
  }
}

/** Empties the folder, which was empty before; `made`: the topmost folder created for it. */
async function removeExtracted(folder: string, made: string | undefined): Promise<void> {
  if (made !== undefined) {
    await rm(made, { recursive: true, force: true });
    return;
  }
  for (const name of await readdir(folder)) {
    await rm(join(folder, name), { recursive: true, force: true });
  }
}

async function write(folder: string, { name, modified, content }: ArchivedFile): Promise<void> {
  const path = join(folder, name);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await using handle = await open(path, 'wx', 0o600);
  for await (const chunk of content) if (chunk instanceof Uint8Array) await handle.writeFile(chunk);
  if (modified !== undefined) await handle.utimes(modified, modified);
}

async function expectEmpty(folder: string): Promise<void> {
  const names = await readdir(folder).catch((cause: unknown) => {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return [];
    throw new Failure('usage', `--to: ${folder} is not a folder`, { cause });
  });
  if (names.length === 0) return;
  throw new Failure('usage', `--to: ${folder} is not empty`, {
    expected: 'a new folder, or an empty one',
    fix: 'Name another folder.',
  });
}
