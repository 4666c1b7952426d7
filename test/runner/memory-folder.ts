import { execFile } from 'node:child_process';
import { mkdtemp, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const MEMORY = '/dev/shm';
const TMPFS = 0x01021994;
const LEAST_BYTES = 1 << 30;

/**
 * A folder in memory for what tests write, which the caller removes: on a disk, the same tests take up to twice the processor
 * time. Undefined if there is none that is large enough and in which programs can be started.
 */
export async function memoryFolder(): Promise<string | undefined> {
  const found = await statfs(MEMORY).catch(() => undefined);
  if (found?.type !== TMPFS || found.bavail * found.bsize < LEAST_BYTES) return undefined;
  const folder = await mkdtemp(join(MEMORY, 'sno-tests-')).catch(() => undefined);
  if (folder === undefined || (await canRunPrograms(folder))) return folder;
  await rm(folder, { recursive: true });
  return undefined;
}

async function canRunPrograms(folder: string): Promise<boolean> {
  const program = join(folder, 'program');
  await writeFile(program, '#!/bin/sh\n', { mode: 0o755 });
  const runs = await promisify(execFile)(program).then(
    () => true,
    () => false,
  );
  await rm(program);
  return runs;
}
