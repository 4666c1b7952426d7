import { refused } from './collect.ts';

/** Where the parts of a FAT file system lie: offsets and sizes in bytes. */
export interface FatLayout {
  /** Bits of an entry in the table of clusters. */
  readonly bits: 12 | 16 | 32;
  readonly table: number;
  readonly clusterBytes: number;
  /** Of the cluster with the number 2, which is the first. */
  readonly data: number;
  /** Clusters have numbers from 2 to this one. */
  readonly lastCluster: number;
  /** A folder is a chain of clusters, except the top one of FAT12 and FAT16. */
  readonly top: { readonly cluster: number } | { readonly offset: number; readonly bytes: number };
}

/** The first sector, which has the BIOS parameter block (Microsoft, "FAT32 File System Specification"). */
export const BOOT_BYTES = 512;
export const ENTRY_BYTES = 32;

/** @throws Failure (usage) if it is not the first sector of a FAT file system */
export function fatLayout(boot: Buffer): FatLayout {
  const sector = boot.readUInt16LE(11);
  const perCluster = boot.readUInt8(13);
  const reserved = boot.readUInt16LE(14);
  const tables = boot.readUInt8(16);
  const topEntries = boot.readUInt16LE(17);
  const sectors = boot.readUInt16LE(19) || boot.readUInt32LE(32);
  const tableSectors = boot.readUInt16LE(22) || boot.readUInt32LE(36);
  const isPower = (number: number) => number > 0 && (number & (number - 1)) === 0;
  if (boot.readUInt16LE(510) !== 0xaa55) throw none('no signature');
  if (!isPower(sector) || sector < 512 || sector > 4096) throw none(`sectors of ${sector} bytes`);
  if (!isPower(perCluster)) throw none(`clusters of ${perCluster} sectors`);
  if (reserved === 0 || tables === 0 || tableSectors === 0) throw none('no table of clusters');
  const top = reserved + tables * tableSectors;
  const data = top + Math.ceil((topEntries * ENTRY_BYTES) / sector);
  const clusters = Math.floor((sectors - data) / perCluster);
  if (clusters < 1) throw none('no clusters');
  const bits = boot.readUInt16LE(22) === 0 ? 32 : clusters < 4085 ? 12 : 16;
  // The table may have entries for fewer clusters than the file system claims.
  const entries = Math.floor((tableSectors * sector * 8) / bits);
  return {
    bits,
    table: reserved * sector,
    clusterBytes: perCluster * sector,
    data: data * sector,
    lastCluster: Math.min(clusters + 1, entries - 1),
    top:
      bits === 32
        ? { cluster: boot.readUInt32LE(44) }
        : { offset: top * sector, bytes: topEntries * ENTRY_BYTES },
  };
}

const none = (found: string) => refused(`no file system: ${found} in place of FAT`);

/** The number of the next cluster in the table, or what is there instead of one. */
export type Next = number | 'end' | 'damaged';

/** @param entry the bytes of the table from `tableOffset` on: 4 of them, or fewer at its end */
export function nextCluster(
  { bits, lastCluster }: FatLayout,
  cluster: number,
  entry: Buffer,
): Next {
  const value = entryOf(bits, cluster, entry);
  // From this number on, the upper ones say "end" (…8 to …F) and "bad" (…7).
  const end = { 12: 0xff8, 16: 0xfff8, 32: 0xffffff8 }[bits];
  if (value >= end) return 'end';
  return value >= 2 && value <= lastCluster ? value : 'damaged';
}

function entryOf(bits: FatLayout['bits'], cluster: number, entry: Buffer): number {
  if (bits === 32) return entry.readUInt32LE(0) & 0x0fffffff;
  const value = entry.readUInt16LE(0);
  if (bits === 16) return value;
  return cluster % 2 === 0 ? value & 0xfff : value >> 4;
}

/** Where the entry of a cluster lies. */
export const tableOffset = ({ bits, table }: FatLayout, cluster: number): number =>
  table + Math.floor((cluster * bits) / 8);
