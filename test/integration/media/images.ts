import { type ExecFileSyncOptions, execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isInstalled } from '../../../lib/host/search-path.ts';

/** Why tests are skipped that need these programs; false if all are there. */
export async function skipWithout(...programs: string[]): Promise<string | false> {
  const found = await Promise.all(programs.map((program) => isInstalled(program)));
  const missing = programs.filter((_, at) => found[at] !== true);
  return missing.length === 0 ? false : `${missing.join(', ')} not installed`;
}

export const quietly: ExecFileSyncOptions = { stdio: ['ignore', 'ignore', 'pipe'] };

/** Real file systems of a folder's files, as the tools of operating systems write them. */
export const images = {
  iso9660(folder: string, image: string): void {
    const args = ['-as', 'mkisofs', '-quiet', '-R', '-J', '-V', 'SITE-CONFIG', '-o', image, folder];
    execFileSync('xorriso', args, quietly);
  },
  ext4(folder: string, image: string): void {
    const args = ['-q', '-F', '-t', 'ext4', '-L', 'site-config', '-d', folder, image, '40M'];
    execFileSync('/usr/sbin/mke2fs', args, quietly);
  },
  vfat(folder: string, image: string): void {
    // 40 MiB in sectors: FAT16.
    execFileSync('mformat', ['-C', '-i', image, '-T', '81920', '-v', 'SITE-CONFIG', '::'], quietly);
    const files = readdirSync(folder).map((name) => join(folder, name));
    execFileSync('mcopy', ['-s', '-i', image, ...files, '::'], quietly);
  },
} as const;

/** Runs requests of debugfs that change an ext4 image. */
export function changeExt4(image: string, ...requests: string[]): void {
  for (const request of requests) {
    execFileSync('/usr/sbin/debugfs', ['-w', '-R', request, image], quietly);
  }
}
