import { randomBytes } from 'node:crypto';
import { link, lstat, mkdir, rm, rmdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import { isBadPath, isSystemError, systemErrorText } from '../../lib/base/errors/system-error.ts';
import { exists, syncDirectory, writeFileAtomic } from '../../lib/host/files.ts';
import { kindOf } from '../../lib/host/given-file.ts';
import { namingFullDisk } from './full-disk.ts';

export interface OutputFile {
  path: string;
  contents: string;
}

/** Also one that is no text. */
export interface WrittenFile extends Pick<OutputFile, 'path'> {
  contents: string | Uint8Array;
}

/** @throws Failure (usage) that names the files of an earlier run */
export async function requireAbsent(
  paths: readonly string[],
  fix = 'Keep them, or move them away to create new ones with new keys.',
): Promise<void> {
  const present: string[] = [];
  for (const path of paths) {
    const stats = await lstat(path).catch(() => undefined);
    if (stats === undefined) continue;
    if (!stats.isFile() && !stats.isDirectory() && !stats.isSymbolicLink()) {
      throw new Failure('usage', `${path} is ${kindOf(stats)}; nothing was written`, {
        fix: 'Name a new file.',
      });
    }
    present.push(path);
  }
  if (present.length === 0) return;
  throw new Failure('usage', `There is already ${present.join(' and ')}; nothing was written`, {
    fix,
  });
}

/**
 * Writes all outputs (0600) or none. All are complete beside their final paths
 * before the first appears there; each appears by a hard link, which never replaces
 * anything. So if the last one exists, all do. New folders are 0700.
 */
export async function writeOutputs(outputs: readonly WrittenFile[]): Promise<void> {
  const made: string[] = [];
  const beside: string[] = [];
  const shown: string[] = [];
  try {
    for (const { path, contents } of outputs) {
      const folder = dirname(path);
      if (!(await exists(folder))) {
        await mkdir(folder, { mode: 0o700 });
        made.push(folder);
      }
      const temporary = `${path}.${randomBytes(4).toString('hex')}`;
      await writeFileAtomic(temporary, contents, 0o600);
      beside.push(temporary);
    }
    for (const [index, { path }] of outputs.entries()) {
      await link(beside[index] ?? '', path);
      shown.push(path);
    }
  } catch (error) {
    for (const path of shown) await rm(path, { force: true });
    for (const path of beside) await rm(path, { force: true });
    for (const folder of made.toReversed()) await rmdir(folder).catch(() => undefined);
    const unwritten = outputs[beside.length]?.path;
    const isTaken = isSystemError(error) && error.code === 'EEXIST';
    if (unwritten !== undefined && (isTaken || isBadPath(error))) {
      throw noPlace(unwritten, error);
    }
    throw await namingFullDisk(error, unwritten ?? outputs[0]?.path ?? '', sizeOf(outputs));
  }
  for (const path of beside) await rm(path);
  for (const folder of new Set(outputs.map(({ path }) => dirname(path)))) {
    await syncDirectory(folder);
  }
}

function noPlace(path: string, error: NodeJS.ErrnoException): Failure {
  const found = systemErrorText(error, dirname(path));
  return new Failure('usage', `${path} cannot be written; nothing was written`, {
    found,
    fix: 'Use a folder that can be written to, or a new one in a folder that is there.',
  });
}

const sizeOf = (outputs: readonly WrittenFile[]) =>
  outputs.reduce((sum, { contents }) => sum + Buffer.byteLength(contents), 0);
