import { z } from 'zod';
import { Failure } from '../../base/errors/failure.ts';
import { run } from '../command.ts';
import type { BlockDevice, Partition } from '../disk.ts';
import { exists } from '../files.ts';
import { withMounted } from '../mount.ts';
import { runOutsideSandbox } from '../outside-sandbox.ts';
import type { HostPaths } from '../paths.ts';
import { type BootVariables, parseEfibootmgr } from './efibootmgr.ts';
import { findLoader, type Loader } from './loader.ts';
import { entryFor, mediumIsFirst, orderWith, planEntries, type WantedEntry } from './plan.ts';

/** How a host chooses its boot device; `none`: in a way that no operating system can change. */
export type Firmware = 'efi' | 'power' | 'none';

/** Partition type of an EFI system partition (UEFI specification 5.3.3). */
const ESP_TYPE = 'c12a7328-f81f-11d2-ba4b-00a0c93ec93b';
const COMMAND_MS = 30_000;

export async function firmwareOf(paths: HostPaths): Promise<Firmware> {
  // Only PowerPC hosts have it, as in the assisted installer.
  if (await exists(paths.at('/usr/sbin/bootlist'))) return 'power';
  return (await exists(paths.at('/sys/firmware/efi'))) ? 'efi' : 'none';
}

/**
 * Puts the installed disk first in the firmware's boot order, and verifies the
 * order. Returns what was done, as a sentence. Changes only boot entries and their
 * order, as openshift's assisted-installer does (src/ops/ops.go, SetBootOrder).
 * @throws Failure if the firmware refuses the change or does not keep it
 */
export async function setBootOrder(
  disk: BlockDevice,
  firmware: 'efi' | 'power',
  paths: HostPaths,
  signal: AbortSignal,
): Promise<string> {
  if (firmware === 'power') {
    await runOutsideSandbox('bootlist', ['-m', 'normal', '-o', disk.path], {
      signal,
      deadlineMs: COMMAND_MS,
    });
    return `bootlist has ${disk.path} as the only device of the normal mode`;
  }
  const wanted = await wantedEntry(disk, paths, signal);
  const before = await readVariables(signal);
  const plan = planEntries(before, wanted, await partitionsThere(signal));
  for (const number of plan.stale) {
    await efibootmgr(['--bootnum', number, '--delete-bootnum'], signal);
  }
  if (plan.existing === undefined) await createEntry(disk, wanted, signal);
  const after = await readVariables(signal);
  const entry = requireEntry(after, wanted);
  const bootNext = mediumIsFirst(before, entry);
  // First, so that a firmware that keeps only this one starts the disk at least once.
  if (bootNext) await efibootmgr(['--bootnext', entry], signal);
  await putFirst(entry, after, signal);
  await verify(entry, bootNext, signal);
  const removed = plan.stale.length === 0 ? '' : `, ${plan.stale.length} stale entries removed`;
  return `Boot${entry} "${wanted.label}" (${wanted.loader} on ${disk.path}) is first in the boot order${removed}`;
}

async function wantedEntry(
  disk: BlockDevice,
  paths: HostPaths,
  signal: AbortSignal,
): Promise<WantedEntry> {
  const esp = disk.children?.find(({ parttype }) => parttype?.toLowerCase() === ESP_TYPE);
  const { number, partuuid } = esp ?? {};
  if (esp === undefined || number === undefined || typeof partuuid !== 'string') {
    throw new Failure('fatal', `${disk.path} has no EFI system partition`, {
      found: (disk.children ?? []).map(({ partlabel }) => partlabel ?? '-').join(', ') || 'none',
    });
  }
  const loader = await loaderOn(esp, paths, signal);
  return {
    label: loader.label,
    loader: loader.path,
    partition: partuuid.toLowerCase(),
    partitionNumber: number,
  };
}

async function loaderOn(esp: Partition, paths: HostPaths, signal: AbortSignal): Promise<Loader> {
  const { path: device, fstype } = esp;
  const request = { device, fstype, writable: false, runFolder: paths.run, signal };
  const loader = await withMounted(request, (folder) => findLoader(folder, process.arch));
  if (loader !== undefined) return loader;
  throw new Failure('fatal', `no boot loader for ${process.arch} found on ${device}`, {
    expected: '\\EFI\\<vendor>\\shim*.efi or \\EFI\\BOOT\\BOOT*.EFI',
  });
}

async function createEntry(
  disk: BlockDevice,
  { label, loader, partitionNumber }: WantedEntry,
  signal: AbortSignal,
): Promise<void> {
  const place = ['--disk', disk.path, '--part', `${partitionNumber}`];
  await efibootmgr(['--create', ...place, '--label', label, '--loader', loader], signal);
}

function requireEntry({ entries }: BootVariables, wanted: WantedEntry): string {
  const entry = entryFor(entries, wanted);
  if (entry !== undefined) return entry;
  throw new Failure('fatal', 'the firmware did not keep the boot entry of the disk', {
    expected: `an active entry for ${wanted.loader} on partition ${wanted.partition}`,
    found: entries.map(({ number, label }) => `Boot${number} ${label}`).join(', ') || 'none',
  });
}

/** --create puts a new entry first; an existing one may be anywhere, or missing in the order. */
async function putFirst(
  entry: string,
  variables: BootVariables,
  signal: AbortSignal,
): Promise<void> {
  if (variables.order[0] === entry) return;
  await efibootmgr(['--bootorder', orderWith(entry, variables).join(',')], signal);
}

async function verify(entry: string, bootNext: boolean, signal: AbortSignal): Promise<void> {
  const { order, next } = await readVariables(signal);
  if (order[0] === entry && (!bootNext || next === entry)) return;
  throw new Failure('fatal', 'the firmware did not keep the boot order', {
    expected: `Boot${entry} first${bootNext ? ' and as BootNext' : ''}`,
    found: `BootOrder ${order.join(',') || 'empty'}, BootNext ${next ?? 'none'}`,
  });
}

async function readVariables(signal: AbortSignal): Promise<BootVariables> {
  return parseEfibootmgr(await efibootmgr(['--verbose'], signal));
}

/** Firmware variables are read-only in the sandbox of every agent's unit. */
const efibootmgr = (args: readonly string[], signal: AbortSignal): Promise<string> =>
  runOutsideSandbox('efibootmgr', args, { signal, deadlineMs: COMMAND_MS });

const partitionsSchema = z.object({
  blockdevices: z.array(z.object({ partuuid: z.string().nullable() })),
});

/** The unique GUIDs of all partitions of this host. */
async function partitionsThere(signal: AbortSignal): Promise<ReadonlySet<string>> {
  const args = ['--json', '--list', '--output=PARTUUID'];
  const text = await run('lsblk', args, { signal, deadlineMs: COMMAND_MS });
  const { blockdevices } = partitionsSchema.parse(JSON.parse(text));
  return new Set(blockdevices.flatMap(({ partuuid }) => partuuid?.toLowerCase() ?? []));
}
