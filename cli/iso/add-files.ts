import { dirname } from 'node:path';
import { requireProgram } from '../process/program.ts';

/** A file of this machine to be added to the ISO. */
export interface AddedFile {
  readonly source: string;
  /** Absolute, on the ISO. */
  readonly path: string;
  readonly mode: number;
}

export interface AddFilesRequest {
  readonly iso: string;
  /** Folder on the ISO that will hold all of them and does not exist yet. */
  readonly folder: string;
  readonly files: readonly AddedFile[];
  /** 32 hexadecimal digits: the disk GUID in the partition table. */
  readonly diskGuid: string;
  readonly signal: AbortSignal;
}

const DEADLINE_MS = 30 * 60_000;

/** 1980-01-01: the fixed date of everything that is added. */
export const EPOCH = 315_532_800;

/**
 * Files of 4 GiB and more need ISO level 3, in which names are longer:
 * coreos-installer looks for `IGNINFO.JSO`, which would then be `IGNINFO.JSON`.
 */
export const MAX_FILE_BYTES = 4 * 1024 ** 3 - 1;

/**
 * Adds files to an ISO in place. xorriso appends them and a new directory tree:
 * existing data is not moved, except for a patched copy of the BIOS boot image. The
 * same ISO and files give the same bytes.
 */
export async function addFiles({ iso, signal, ...request }: AddFilesRequest): Promise<void> {
  await runXorriso(addFilesArguments({ iso, ...request }), signal);
}

/** With fixed dates, so that the same arguments and files give the same bytes. */
export async function runXorriso(args: readonly string[], signal: AbortSignal): Promise<void> {
  await requireProgram('xorriso', args, {
    signal,
    deadlineMs: DEADLINE_MS,
    env: { SOURCE_DATE_EPOCH: `${EPOCH}` },
  });
}

/** The pure part of addFiles. */
export function addFilesArguments(request: Omit<AddFilesRequest, 'signal'>): string[] {
  const { iso, folder, files, diskGuid } = request;
  return [
    ...['-no_rc', '-return_with', 'SORRY', '32', '-abort_on', 'SORRY'],
    // Names are names, not patterns; nothing on the ISO is replaced.
    ...['-disk_pattern', 'off', '-iso_rr_pattern', 'off', '-overwrite', 'off'],
    // File names as written by genisoimage, with which CoreOS makes its ISOs.
    ...['-compliance', 'iso_9660_level=1', '-joliet', 'on'],
    // The caller syncs the whole file, once.
    ...['-stdio_sync', 'off', '-dev', `stdio:${iso}`],
    // Otherwise 300 KiB would follow the copy of the partition table, which must be last.
    ...['-padding', '0'],
    ...contentArguments(files, folder),
    // "keep" would leave MBR and GPT unchanged: on a USB stick, the partition that
    // the system mounts would end before the files. The boot catalog is rewritten.
    ...['-overwrite', 'nondir', '-boot_image', 'any', 'replay'],
    ...['-boot_image', 'any', `gpt_disk_guid=${diskGuid}`],
    ...['-commit', '-end'],
  ];
}

/** Maps the files, all in one folder, with fixed owners and dates. */
export function contentArguments(files: readonly AddedFile[], folder: string): string[] {
  const date = `=${EPOCH}`;
  return [
    ...files.flatMap(({ source, path }) => ['-map', source, path]),
    ...files.flatMap(({ path, mode }) => ['-chmod', octal(mode), path, '--']),
    ...foldersOf(files).flatMap((path) => ['-chmod', octal(0o755), path, '--']),
    ...['-chown_r', '0', folder, '--', '-chgrp_r', '0', folder, '--'],
    ...['-alter_date_r', 'b-c', date, folder, '--', '-alter_date_r', 'c', date, folder, '--'],
  ];
}

const octal = (mode: number) => mode.toString(8).padStart(4, '0');

/** Every folder to be created for the files. */
function foldersOf(files: readonly AddedFile[]): string[] {
  const folders = new Set<string>();
  for (const { path } of files) {
    for (let at = dirname(path); at !== '/'; at = dirname(at)) folders.add(at);
  }
  return [...folders].toSorted();
}
