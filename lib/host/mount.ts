import { mkdir, mkdtemp, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from './command.ts';

/** Options that prevent any change to the medium: not even a journal is replayed. */
function readOnlyOptions(fstype: string | null): string {
  if (fstype === 'ext4') return 'ro,noload';
  return fstype === 'xfs' ? 'ro,norecovery' : 'ro';
}

export interface MountRequest {
  readonly device: string;
  readonly fstype: string | null;
  readonly writable: boolean;
  /** Folder in which the mount point is created. */
  readonly runFolder: string;
  readonly signal: AbortSignal;
}

/** Mounts a partition while `use` runs, and always unmounts it. */
export async function withMounted<T>(
  { device, fstype, writable, runFolder, signal }: MountRequest,
  use: (folder: string) => Promise<T>,
): Promise<T> {
  await mkdir(runFolder, { recursive: true, mode: 0o700 });
  const folder = await mkdtemp(join(runFolder, 'mount-'));
  const options = writable ? 'rw' : readOnlyOptions(fstype);
  const deadlineMs = 60_000;
  try {
    await run('mount', ['-o', `${options},nosuid,nodev,noexec`, device, folder], {
      signal,
      deadlineMs,
    });
    try {
      return await use(folder);
    } finally {
      // Not the step's signal: a stopped step must unmount too.
      await run('umount', [folder], { signal: AbortSignal.timeout(deadlineMs), deadlineMs });
    }
  } finally {
    await rmdir(folder);
  }
}
