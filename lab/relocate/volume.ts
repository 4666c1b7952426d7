import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { stringify } from 'yaml';
import { run } from '../../lib/host/command.ts';
import { quickly } from '../host/command.ts';
import { cli } from '../paths.ts';

const CREATE_MS = 60_000;
/** In sectors of 512 bytes: FAT16. */
const FAT_SECTORS = 81_920;
/** Where the partition begins, in bytes; as much is behind it for the second table. */
export const PARTITION_OFFSET = 1024 ** 2;

/** The medium, in the folder of its volume. */
export const IMAGE = 'site-volume.img';

/** What an administrator gives to `sno create site-volume`. */
export interface VolumeInput {
  /** site-config.yaml. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Extra manifests, by the name of their file. */
  readonly manifests?: Readonly<Record<string, string>>;
  /** Other files beside it, by their paths. */
  readonly files?: Readonly<Record<string, string>>;
  /** Of age, who alone can read it. Default: it is not encrypted. */
  readonly recipient?: string | undefined;
  /** The private key that signs it. Default: nobody does. */
  readonly key?: string;
}

/** Media that a person may bring: a virtual CD, and sticks with or without a partition. */
export type MediumKind = 'ISO' | 'ext4' | 'FAT' | 'FAT in a partition';

/** Writes the volume below `folder`, its administrator to `folder/auth`, and returns the image of a medium with it. */
export async function createVolume(
  folder: string,
  kind: MediumKind,
  { config, manifests = {}, files: others = {}, recipient, key }: VolumeInput,
  signal: AbortSignal,
): Promise<string> {
  for (const [name, text] of Object.entries({
    'site-config.yaml': stringify(config),
    ...others,
    ...Object.fromEntries(
      Object.entries(manifests).map(([file, manifest]) => [`extra-manifests/${file}`, manifest]),
    ),
  })) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  const files = join(folder, 'files');
  const image = join(folder, IMAGE);
  const target = kind === 'ISO' ? ['--iso', image] : ['--folder', files];
  const sign = key === undefined ? [] : ['--sign', key];
  const encrypt = recipient === undefined ? [] : ['--recipient', recipient];
  const create = ['create', 'site-volume', '--dir', folder, ...target, ...sign, ...encrypt];
  await run(cli, create, { signal, deadlineMs: CREATE_MS });
  if (kind !== 'ISO') await writeStick(kind, files, image, signal);
  return image;
}

/** As a person does who copies the folder to a stick. */
async function writeStick(
  kind: Exclude<MediumKind, 'ISO'>,
  files: string,
  image: string,
  signal: AbortSignal,
): Promise<void> {
  await rm(image, { force: true });
  if (kind === 'ext4') {
    const label = ['-q', '-F', '-t', 'ext4', '-L', 'site-config'];
    await quickly('mke2fs', [...label, '-d', files, image, '40M'], signal);
    return;
  }
  const sources = (await readdir(files)).map((name) => join(files, name));
  const label = ['-v', 'SITE-CONFIG'];
  if (kind === 'FAT in a partition') return partitionedStick(image, sources, label, signal);
  await format(image, ['-C'], label, signal);
  await quickly('mcopy', ['-s', '-i', image, ...sources, '::'], signal);
}

/** Of mtools: the file system in the only partition of a stick. */
export const inPartition = (image: string): string => `${image}@@${PARTITION_OFFSET}`;

/** FAT in a partition, with these files and folders at its top level. `label`: for mformat. */
export async function partitionedStick(
  image: string,
  sources: readonly string[],
  label: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const bytes = FAT_SECTORS * 512 + 2 * PARTITION_OFFSET;
  await quickly('truncate', ['--size', `${bytes}`, image], signal);
  const [from, to] = [PARTITION_OFFSET / 512, PARTITION_OFFSET / 512 + FAT_SECTORS - 1];
  await quickly('sgdisk', ['--new', `1:${from}:${to}`, image], signal);
  await format(inPartition(image), [], label, signal);
  await quickly('mcopy', ['-s', '-i', inPartition(image), ...sources, '::'], signal);
}

const format = (
  place: string,
  created: readonly string[],
  label: readonly string[],
  signal: AbortSignal,
) => quickly('mformat', [...created, '-i', place, '-T', `${FAT_SECTORS}`, ...label, '::'], signal);
