import { open } from 'node:fs/promises';
import { promisify } from 'node:util';
import fatfs from 'fatfs';
import { systemErrorCode } from '../errors/system-error-code.ts';
import { isOfSystem, MAX_DEPTH, type MediumEntry, refused } from './collect.ts';

export const SECTOR_BYTES = 512;

/** A name of at most 8 and 3 characters that is stored in capitals only, since FAT does not tell them apart. */
const SHORT_NAME = /^[^a-z/.]{1,8}(\.[^a-z/.]{1,3})?$/;

/** As other systems show it: short names in small letters. */
const shownName = (path: string): string =>
  path
    .split('/')
    .map((name) => (SHORT_NAME.test(name) ? name.toLowerCase() : name))
    .join('/');

interface OpenFat extends AsyncDisposable {
  readonly system: ReturnType<typeof fatfs.createFileSystem>;
}

/**
 * The file system of a device, which is opened for reading only.
 *
 * @param writes receives what the library would write; without it, the library does not write
 * @throws Failure (usage) if there is none
 */
export async function openFat(
  device: string,
  writes?: (firstSector: number, data: Buffer) => void,
): Promise<OpenFat> {
  const file = await open(device, 'r');
  const readSectors = (first: number, target: Buffer, done: (error: Error | null) => void) => {
    file.read(target, 0, target.length, first * SECTOR_BYTES).then(
      ({ bytesRead }) => done(bytesRead === target.length ? null : new Error('beyond the medium')),
      (error: Error) => done(error),
    );
  };
  const writeSectors = (first: number, data: Buffer, done: (error: Error | null) => void) => {
    writes?.(first, data);
    done(null);
  };
  // Of a block device, fstat does not tell the size: the medium itself refuses what is beyond its end.
  const numSectors = Number.MAX_SAFE_INTEGER;
  const volume = { sectorSize: SECTOR_BYTES, numSectors, readSectors, writeSectors };
  const close = () => file.close();
  try {
    const system = await new Promise<OpenFat['system']>((resolve, reject) => {
      const made = fatfs.createFileSystem(volume, { ro: writes === undefined }, (error) =>
        error === null ? resolve(made) : reject(refused(`no file system: ${error.message}`)),
      );
    });
    return { system, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * The entries of a FAT file system. It has neither links nor devices; a chain of clusters that leads back
 * into itself is read until the deadline of the reader.
 */
export async function* fatEntries(device: string): AsyncGenerator<MediumEntry> {
  await using fat = await openFat(device);
  const { system } = fat;
  const readdir = promisify(system.readdir.bind(system));
  const stat = promisify(system.stat.bind(system));
  const readFile = promisify(system.readFile.bind(system));

  async function* entriesIn(folder: string, depth: number): AsyncGenerator<MediumEntry> {
    if (depth > MAX_DEPTH) throw refused(`folders in folders, more than ${MAX_DEPTH}`);
    for (const name of await readdir(`/${folder}`)) {
      if (isOfSystem(name)) continue;
      const path = `${folder}${name}`;
      const size = await sizeOf(`/${path}`);
      const kind = size === undefined ? 'directory' : 'file';
      yield { name: shownName(path), kind, size: size ?? 0, read: () => readFile(`/${path}`) };
      if (size === undefined) yield* entriesIn(`${path}/`, depth + 1);
    }
  }

  /** Undefined of a folder. */
  async function sizeOf(path: string): Promise<number | undefined> {
    try {
      return (await stat(path)).size;
    } catch (error) {
      if (systemErrorCode(error) === 'ISDIR') return undefined;
      throw error;
    }
  }

  yield* entriesIn('', 1);
}
