import { open } from 'node:fs/promises';
import { promisify } from 'node:util';
import fatfs from 'fatfs';
import { systemErrorCode } from '../errors/system-error-code.ts';
import { isOfSystem, MAX_DEPTH, type MediumEntry, refused } from './collect.ts';

const SECTOR_BYTES = 512;

/** A name of at most 8 and 3 characters that is stored in capitals only, since FAT does not tell them apart. */
const SHORT_NAME = /^[^a-z/.]{1,8}(\.[^a-z/.]{1,3})?$/;

/** As other systems show it: short names in small letters. */
const shownName = (path: string): string =>
  path
    .split('/')
    .map((name) => (SHORT_NAME.test(name) ? name.toLowerCase() : name))
    .join('/');

/**
 * The entries of a FAT file system. It has neither links nor devices; a chain of clusters that leads back
 * into itself is read until the deadline of the reader.
 */
export async function* fatEntries(device: string): AsyncGenerator<MediumEntry> {
  await using file = await open(device, 'r');
  const readSectors = (first: number, target: Buffer, done: (error: Error | null) => void) => {
    file.read(target, 0, target.length, first * SECTOR_BYTES).then(
      ({ bytesRead }) => done(bytesRead === target.length ? null : new Error('beyond the medium')),
      (error: Error) => done(error),
    );
  };
  // Of a block device, fstat does not tell the size: the medium itself refuses what is beyond its end.
  const volume = { sectorSize: SECTOR_BYTES, numSectors: Number.MAX_SAFE_INTEGER, readSectors };
  const system = await new Promise<ReturnType<typeof fatfs.createFileSystem>>((resolve, reject) => {
    const made = fatfs.createFileSystem(volume, { ro: true }, (error) =>
      error === null ? resolve(made) : reject(refused(`no file system: ${error.message}`)),
    );
  });
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
