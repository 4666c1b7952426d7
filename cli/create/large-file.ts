import { randomBytes } from 'node:crypto';
import { link, open, rm, stat, statfs } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import { syncDirectory } from '../../lib/host/files.ts';
import { requireProgram, runProgram } from '../process/program.ts';
import { namingFullDisk } from './full-disk.ts';

const COPY_DEADLINE_MS = 30 * 60_000;
/** What a file system needs in addition to the data, generously. */
const MARGIN_BYTES = 64 * 1024 ** 2;

/** @throws Failure (usage) if the file system of `output` has less space than that */
export async function requireSpace(output: string, bytes: number): Promise<void> {
  const folder = dirname(output);
  const { bavail, bsize } = await statfs(folder).catch((cause: unknown) => {
    throw new Failure('usage', `${folder} cannot be written to; nothing was written`, { cause });
  });
  if (bavail * bsize >= bytes + MARGIN_BYTES) return;
  throw new Failure('usage', `Not enough space in ${folder}; nothing was written`, {
    expected: `${mebibytes(bytes + MARGIN_BYTES)} free`,
    found: mebibytes(bavail * bsize),
    fix: 'Free some space, or use another place with --output.',
  });
}

async function syncFile(path: string): Promise<void> {
  await using file = await open(path, 'r+');
  await file.sync();
}

/** For people, rounded up. */
export const mebibytes = (bytes: number) => `${Math.ceil(bytes / 1024 ** 2)} MiB`;

const besideOf = (path: string) =>
  join(dirname(path), `.${basename(path)}.${randomBytes(4).toString('hex')}.new`);

/** Whether a copy of `source` at `output` takes no space until it is changed: on one file system that can. */
export async function canShareBlocks(
  source: string,
  output: string,
  signal: AbortSignal,
): Promise<boolean> {
  const probe = besideOf(output);
  const copy = ['--reflink=always', '--no-preserve=mode', '--', source, probe];
  try {
    return (await runProgram('cp', copy, { signal, deadlineMs: COPY_DEADLINE_MS })).ok;
  } finally {
    await rm(probe, { force: true });
  }
}

/**
 * Writes a file as a changed copy of `source`, or from nothing, atomically, with mode 0600 from the
 * first byte: `change` works on the copy beside the final path, where it then
 * appears by a hard link, so nothing is ever replaced. Returns its size.
 */
export async function writeLargeFile(
  path: string,
  source: string | undefined,
  signal: AbortSignal,
  change: (copy: string) => Promise<void>,
): Promise<number> {
  const beside = besideOf(path);
  await (await open(beside, 'wx', 0o600)).close();
  try {
    if (source !== undefined) {
      const copy = ['--reflink=auto', '--no-preserve=mode', '--', source, beside];
      await requireProgram('cp', copy, { signal, deadlineMs: COPY_DEADLINE_MS });
    }
    await change(beside);
    await syncFile(beside);
    await link(beside, path);
    return (await stat(path)).size;
  } catch (error) {
    const of = source === undefined ? undefined : await stat(source).catch(() => undefined);
    throw await namingFullDisk(error, path, of?.size);
  } finally {
    await rm(beside, { force: true });
    await syncDirectory(dirname(path));
  }
}
