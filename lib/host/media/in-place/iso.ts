import { type FileHandle, open } from 'node:fs/promises';
import type { Extent } from './extent.ts';

/** ISO 9660 (ECMA-119): logical sectors, and where the volume descriptors begin. */
const SECTOR_BYTES = 2048;
const FIRST_DESCRIPTOR = 16;
const MOST_DESCRIPTORS = 16;
const SUPPLEMENTARY = 2;
const TERMINATOR = 255;
/** Joliet's marks of UCS-2, levels 1 to 3. */
const ESCAPES = ['%/@', '%/C', '%/E'];
/** Of the record of the top folder, in a descriptor. */
const ROOT_AT = 156;
/** Hundreds of names. */
const MOST_FOLDER_BYTES = 64 << 10;

/** Where a file of the top folder lies, by its name in Joliet; undefined if it is not there. A file has one extent. */
export async function isoExtents(
  device: string,
  name: string,
): Promise<readonly Extent[] | undefined> {
  await using file = await open(device, 'r');
  const root = await jolietRoot(file);
  if (root === undefined) return undefined;
  const folder = await bytesAt(file, {
    ...root,
    bytes: Math.min(root.bytes, MOST_FOLDER_BYTES),
  });
  const record = recordsIn(folder).find((each) => nameOf(each) === name);
  return record === undefined ? undefined : [extentOf(record)];
}

async function jolietRoot(file: FileHandle): Promise<Extent | undefined> {
  for (let at = 0; at < MOST_DESCRIPTORS; at++) {
    const offset = (FIRST_DESCRIPTOR + at) * SECTOR_BYTES;
    const descriptor = await bytesAt(file, { offset, bytes: SECTOR_BYTES });
    if (descriptor.toString('latin1', 1, 6) !== 'CD001' || descriptor[0] === TERMINATOR) break;
    const isJoliet = ESCAPES.includes(descriptor.toString('latin1', 88, 91));
    if (descriptor[0] === SUPPLEMENTARY && isJoliet) return extentOf(descriptor.subarray(ROOT_AT));
  }
  return undefined;
}

/** The records of a folder. None crosses the end of a sector, whose rest is zero. */
function recordsIn(folder: Buffer): Buffer[] {
  const records: Buffer[] = [];
  for (let at = 0; at < folder.length; ) {
    const length = folder[at] ?? 0;
    if (length > 33) records.push(folder.subarray(at, at + length));
    at = length === 0 ? (Math.floor(at / SECTOR_BYTES) + 1) * SECTOR_BYTES : at + length;
  }
  return records.filter((record) => record.length > 33 + (record[32] ?? 0) - 1);
}

const nameOf = (record: Buffer): string =>
  Buffer.from(record.subarray(33, 33 + ((record[32] ?? 0) & ~1)))
    .swap16()
    .toString('utf16le')
    .replace(/;1$/, '');

const extentOf = (record: Buffer): Extent => ({
  offset: record.readUInt32LE(2) * SECTOR_BYTES,
  bytes: record.readUInt32LE(10),
});

async function bytesAt(file: FileHandle, { offset, bytes }: Extent): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, offset);
  return buffer.subarray(0, bytesRead);
}
