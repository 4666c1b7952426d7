import { ENTRY_BYTES } from './fat-layout.ts';

/** A file or a folder, as its entry in a folder says it. */
export interface FatEntry {
  readonly name: string;
  readonly isFolder: boolean;
  /** Bytes; 0 of a folder. */
  readonly size: number;
  /** Of its data; 0 of an empty file. */
  readonly cluster: number;
}

const END = 0x00;
const DELETED = 0xe5;
/** In place of the byte that would say "deleted". */
const IS_E5 = 0x05;
const ATTRIBUTE = { volume: 0x08, folder: 0x10, long: 0x0f, mask: 0x3f } as const;
const LAST_PART = 0x40;
/** Where the characters of a part of a long name lie, in UTF-16. */
const CHARACTERS: readonly (readonly [from: number, to: number])[] = [
  [1, 11],
  [14, 26],
  [28, 32],
];

/** A long name whose parts precede the entry that they belong to, the last part first. */
interface LongName {
  readonly parts: Buffer[];
  readonly sum: number;
  /** Of the part that must come next; 0 once all are there. */
  next: number;
}

/** The entries of a folder, from its bytes; without `.` and `..` and the label. Never throws. */
export function* fatEntriesIn(folder: Buffer): Generator<FatEntry> {
  let long: LongName | undefined;
  for (let at = 0; at + ENTRY_BYTES <= folder.length; at += ENTRY_BYTES) {
    const entry = folder.subarray(at, at + ENTRY_BYTES);
    const [first] = entry;
    if (first === END) return;
    const attributes = entry.readUInt8(11) & ATTRIBUTE.mask;
    if (first === DELETED) {
      long = undefined;
    } else if (attributes === ATTRIBUTE.long) {
      long = withPart(long, entry);
    } else {
      const short = entry.subarray(0, 11);
      const isNamed = long !== undefined && long.next === 0 && long.sum === checksum(short);
      const name = isNamed && long !== undefined ? longName(long) : shortName(short);
      long = undefined;
      if ((attributes & ATTRIBUTE.volume) !== 0 || name === '.' || name === '..') continue;
      const isFolder = (attributes & ATTRIBUTE.folder) !== 0;
      const cluster = ((entry.readUInt16LE(20) << 16) | entry.readUInt16LE(26)) >>> 0;
      yield { name, isFolder, size: isFolder ? 0 : entry.readUInt32LE(28), cluster };
    }
  }
}

function withPart(long: LongName | undefined, entry: Buffer): LongName | undefined {
  const order = entry.readUInt8(0);
  const sum = entry.readUInt8(13);
  const text = Buffer.concat(CHARACTERS.map(([from, to]) => entry.subarray(from, to)));
  const number = order & ~LAST_PART;
  if ((order & LAST_PART) !== 0) {
    return number === 0 ? undefined : { parts: [text], sum, next: number - 1 };
  }
  if (long === undefined || long.sum !== sum || long.next !== number || number === 0)
    return undefined;
  long.parts.unshift(text);
  long.next -= 1;
  return long;
}

function longName({ parts }: LongName): string {
  const [name = ''] = Buffer.concat(parts).toString('utf16le').split('\0');
  return name;
}

function shortName(name: Buffer): string {
  const bytes = Buffer.from(name);
  if (bytes[0] === IS_E5) bytes[0] = DELETED;
  const stem = bytes.toString('latin1', 0, 8).trimEnd();
  const extension = bytes.toString('latin1', 8, 11).trimEnd();
  return extension === '' ? stem : `${stem}.${extension}`;
}

/** Of the short name: it ties the parts of a long name to it. */
const checksum = (name: Buffer): number =>
  name.reduce((sum, byte) => (((sum & 1) << 7) + (sum >> 1) + byte) & 0xff, 0);
