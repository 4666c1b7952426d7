import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import type { Test } from 'tap';
import { attachLoopDevice, detachLoopDevice } from '../../lab/host/loop.ts';

const DEADLINE_MS = 30_000;
const DISK_BYTES = 64 * 2 ** 20;
export const soon = () => AbortSignal.timeout(DEADLINE_MS);
export const run = (program: string, ...args: string[]) =>
  execa(program, args, { timeout: DEADLINE_MS });

/** Why loop devices are not available here; false if they are. */
export const withoutLoopDevices: string | false = await reason();

async function reason(): Promise<string | false> {
  if (process.getuid?.() !== 0) return 'loop devices need root';
  const { exitCode } = await execa('losetup', ['--find'], { reject: false, timeout: DEADLINE_MS });
  return exitCode === 0 ? false : 'there is no free loop device';
}

/** A disk in a file, with partitions of 12 MiB; removed in any case, in reverse order. */
export async function loopDisk(t: Test, partitions: readonly { name: string; type: string }[]) {
  // Outside the checkout, whose path may be too long for losetup.
  const folder = await mkdtemp(join(tmpdir(), 'sno-disk-'));
  t.teardown(() => rm(folder, { recursive: true }));
  const file = join(folder, 'disk.raw');
  await run('truncate', `--size=${DISK_BYTES}`, file);
  const table = partitions.map(({ name, type }, index) => [
    `--new=${index + 1}:0:+12M`,
    `--change-name=${index + 1}:${name}`,
    `--typecode=${index + 1}:${type}`,
  ]);
  await run('sgdisk', ...table.flat(), file);
  const device = await attachLoopDevice(file, { partitioned: true }, soon());
  t.teardown(() => detachLoopDevice(device, soon()));
  // Fails if the kernel has found the partitions itself.
  await execa('partx', ['-a', device], { reject: false, timeout: DEADLINE_MS });
  return { folder, file, device, partition: (number: number) => `${device}p${number}` };
}

/** Without udev there is nothing to wait for. */
export async function settledUdev(t: Test, folder: string): Promise<void> {
  const { failed } = await execa('udevadm', ['--version'], { reject: false, timeout: DEADLINE_MS });
  if (!failed) return;
  await writeFile(join(folder, 'udevadm'), '#!/bin/sh\n', { mode: 0o755 });
  const before = process.env.PATH;
  process.env.PATH = `${folder}:${before}`;
  t.teardown(() => {
    process.env.PATH = before;
  });
}
