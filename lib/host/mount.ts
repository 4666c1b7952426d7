import { mkdir, mkdtemp, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from './command.ts';

/** Options that keep a mount from changing the medium: a journal is not even replayed. */
const READ_ONLY: Readonly<Record<string, string>> = {
  ext4: 'ro,noload',
  xfs: 'ro,norecovery',
};

export interface MountRequest {
  readonly device: string;
  readonly fstype: string | null;
  readonly writable: boolean;
  /** Folder below which a mount point is made. */
  readonly runFolder: string;
  readonly signal: AbortSignal;
}

/** Mounts a partition for the time of `use`, and unmounts it whatever happens. */
export async function withMounted<T>(
  { device, fstype, writable, runFolder, signal }: MountRequest,
  use: (folder: string) => Promise<T>,
): Promise<T> {
  await mkdir(runFolder, { recursive: true, mode: 0o700 });
  const folder = await mkdtemp(join(runFolder, 'mount-'));
  const options = writable ? 'rw' : (READ_ONLY[fstype ?? ''] ?? 'ro');
  const deadlineMs = 60_000;
  try {
    await run('mount', ['-o', `${options},nosuid,nodev,noexec`, device, folder], {
      signal,
      deadlineMs,
    });
    try {
      return await use(folder);
    } finally {
      // Not by the step's signal: an unmount must follow also when the step is stopped.
      await run('umount', [folder], { signal: AbortSignal.timeout(deadlineMs), deadlineMs });
    }
  } finally {
    await rmdir(folder);
  }
}
