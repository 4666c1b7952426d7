import { open } from 'node:fs/promises';
import { execa } from 'execa';
import type { Limits } from '../../../base/wait/limits.ts';
import type { Extent } from './extent.ts';

/** The superblock, and in it the base-2 logarithm of the block size in KiB (linux/fs/ext4/ext4.h). */
const LOG_BLOCK_SIZE_AT = 1024 + 24;
/** 64 KiB, the largest. */
const MOST_LOG = 6;
const MAX_LISTING_BYTES = 64 << 10;

/** Where the data of a file in the top folder lies, as debugfs says it; undefined if it is not there. */
export async function ext4Extents(
  device: string,
  name: string,
  { signal, deadlineMs }: Limits,
): Promise<readonly Extent[] | undefined> {
  // It ends with 0, whatever it has found.
  const { stdout, failed } = await execa('debugfs', ['-R', `blocks /${name}`, device], {
    cancelSignal: signal,
    timeout: deadlineMs,
    maxBuffer: MAX_LISTING_BYTES,
    stdin: 'ignore',
    reject: false,
    env: { DEBUGFS_PAGER: '__none__' },
  });
  if (failed || !/^\d+( \d+)*\s*$/.test(stdout)) return undefined;
  const bytes = await blockBytes(device);
  return stdout
    .trim()
    .split(' ')
    .map((block) => ({ offset: Number(block) * bytes, bytes }));
}

async function blockBytes(device: string): Promise<number> {
  await using file = await open(device, 'r');
  const { buffer } = await file.read(Buffer.alloc(4), 0, 4, LOG_BLOCK_SIZE_AT);
  return 1024 << Math.min(buffer.readUInt32LE(), MOST_LOG);
}
