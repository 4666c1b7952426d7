/** Damage to images of file systems, as somebody who means harm would do it. */
import { execFileSync } from 'node:child_process';
import { openSync, readFileSync, truncateSync, writeSync } from 'node:fs';

/** A tar archive with one file, as a text of bytes. */
export function tarText(): string {
  return execFileSync('tar', ['-cf', '-', '-C', '/etc', 'hostname']).toString('latin1');
}

/** Gives the primary descriptor's top folder a place behind everything. */
export function enlarge(image: string): void {
  const file = openSync(image, 'r+');
  const root = (32 << 10) + 156;
  const sector = Buffer.alloc(8);
  sector.writeUInt32LE(1 << 20, 0);
  sector.writeUInt32BE(1 << 20, 4);
  writeSync(file, sector, 0, 8, root + 2);
  // The same in the supplementary descriptor of Joliet.
  writeSync(file, sector, 0, 8, root + 2048 + 2);
}

/** Changes the table of clusters of an image with FAT16: where the first cluster of a file leads. */
export function chainTo(image: string, path: string, where: 'itself' | 'outside'): void {
  const shown = execFileSync('mshowfat', ['-i', image, `::${path}`]).toString();
  const first = Number(/<(\d+)/.exec(shown)?.[1]);
  const boot = readFileSync(image).subarray(0, 512);
  const table = boot.readUInt16LE(14) * boot.readUInt16LE(11);
  const next = Buffer.alloc(2);
  next.writeUInt16LE(where === 'itself' ? first : 0xfff0, 0);
  writeSync(openSync(image, 'r+'), next, 0, 2, table + first * 2);
}

export function overwrite(image: string, at: number, bytes: number): void {
  writeSync(openSync(image, 'r+'), Buffer.alloc(bytes), 0, bytes, at);
}

/** Tables without a chain, and files that end with the medium. */
export const damagedFats = [
  {
    name: 'a FAT whose tables are zero',
    kind: 'vfat',
    change: (image: string) => overwrite(image, 512, 160 << 10),
    says: /damaged/,
  },
  {
    name: 'a FAT cut off in its files',
    kind: 'vfat',
    change: (image: string) => truncateSync(image, 200 << 10),
    says: /damaged/,
  },
] as const;
