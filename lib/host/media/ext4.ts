import { constants } from 'node:fs';
import { execa } from 'execa';
import type { Limits } from '../../base/wait/limits.ts';
import { isOfSystem, MAX_DEPTH, type MediumEntry, type MediumLimits, refused } from './collect.ts';

/** The inode of the root folder (linux/fs/ext4/ext4.h). */
const ROOT = 2;
const KINDS = new Map([
  [constants.S_IFREG, 'file'],
  [constants.S_IFDIR, 'directory'],
  [constants.S_IFLNK, 'symlink'],
  [constants.S_IFCHR, 'character device'],
  [constants.S_IFBLK, 'block device'],
  [constants.S_IFIFO, 'pipe'],
  [constants.S_IFSOCK, 'socket'],
]);
/** Of `ls -p`: inode, mode (octal), uid, gid, name, size. A folder has no size. */
const LINE = /^\/(\d+)\/(\d+)\/\d+\/\d+\/([^/]*)\/(\d*)\/$/;
const MAX_LISTING_BYTES = 1 << 20;

/** The entries of an ext2, ext3 or ext4 file system, as debugfs reads them; its journal is not replayed. */
export async function* ext4Entries(
  device: string,
  { bytes }: MediumLimits,
  limits: Limits,
): AsyncGenerator<MediumEntry> {
  yield* entriesIn(ROOT, '', 1);

  async function* entriesIn(
    folder: number,
    prefix: string,
    depth: number,
  ): AsyncGenerator<MediumEntry> {
    if (depth > MAX_DEPTH) throw refused(`folders in folders, more than ${MAX_DEPTH}`);
    for (const { inode, kind, name, size } of await listing(folder)) {
      const path = `${prefix}${name}`;
      yield { name: path, kind, size, read: () => debugfs(`cat <${inode}>`, bytes) };
      if (kind === 'directory' && !isOfSystem(name)) {
        yield* entriesIn(inode, `${path}/`, depth + 1);
      }
    }
  }

  async function listing(folder: number) {
    const text = Buffer.from(await debugfs(`ls -p <${folder}>`, MAX_LISTING_BYTES)).toString();
    const lines = text.split('\n').filter((line) => line !== '');
    // Each folder has two; debugfs ends successfully if it has read nothing.
    if (lines.length < 2) throw refused('a file system that debugfs cannot read');
    return lines.flatMap((line) => {
      const [, inode, mode, name, size] = LINE.exec(line) ?? [];
      if (inode === undefined || mode === undefined || name === undefined) {
        throw refused('a folder that debugfs cannot list');
      }
      if (name === '.' || name === '..' || inode === '0') return [];
      const type = Number.parseInt(mode, 8) & constants.S_IFMT;
      const kind = KINDS.get(type) ?? 'file of an unknown kind';
      return [{ inode: Number(inode), kind, name, size: Number(size ?? 0) }];
    });
  }

  /** debugfs says on standard error what it cannot do, and ends with 0. */
  async function debugfs(request: string, maxBytes: number): Promise<Uint8Array> {
    const { stdout, failed } = await execa('debugfs', ['-R', request, device], {
      cancelSignal: limits.signal,
      timeout: limits.deadlineMs,
      encoding: 'buffer',
      maxBuffer: maxBytes + 1,
      stripFinalNewline: false,
      stdin: 'ignore',
      reject: false,
      env: { DEBUGFS_PAGER: '__none__' },
    });
    if (failed) throw refused('what debugfs cannot read');
    return stdout;
  }
}
