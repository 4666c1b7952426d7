import { exists } from '../../../lib/host/files.ts';
import { outputText } from '../../../lib/host/program-output.ts';
import { WRITTEN_FOLDERS } from '../../../lib/host/written-folders.ts';
import { own } from '../gather-host.ts';
import type { SourceGroup } from '../source.ts';
import { command } from './command.ts';
import { file } from './file.ts';
import { madeJson } from './made.ts';
import { present } from './present.ts';

const json = { format: 'json' } as const;
const COLUMNS = 'source,fstype,size,avail,itotal,iavail,target';
/** Excludes network file systems: a hanging one would block `df`. Exit code 1 means some were unreadable. */
const LOCAL = ['--local', '--block-size=1', `--output=${COLUMNS}`] as const;

export interface FileSystem {
  readonly target: string;
  readonly source: string;
  readonly type: string;
  readonly sizeBytes: number;
  readonly availableBytes: number;
  /** 0 if the file system does not count them. */
  readonly files: number;
  readonly filesFree: number;
  /** Those of WRITTEN_FOLDERS that are on it. */
  readonly writes: readonly string[];
}

/** File systems that are always full or have no size. */
const NOT_FILLED = /^(squashfs|iso9660|udf|erofs|devtmpfs|efivarfs|ramfs)$/;
/** Mounts of containers and pods; the underlying file system is listed. */
const OF_CONTAINERS =
  /^\/(run\/(containerd|containers|netns)|var\/lib\/(containers\/storage|containerd|kubelet\/pods))\/./;

/** Block devices, mounts and their usage. */
export const disks: SourceGroup = {
  name: 'disks',
  deadlineMs: 5000,
  async list(host) {
    const { at: onHost } = host.paths;
    const at = (name: string) => own(host, `disks/${name}`);
    const isUefi = await exists(onHost('/sys/firmware/efi/efivars'));
    return [
      command(at('lsblk.json'), ['lsblk', '--json', '--bytes', '--output-all'], json),
      command(at('findmnt.json'), ['findmnt', '--json', '--list'], json),
      madeJson(at('df.json'), async (_, signal) =>
        parseDf(
          await outputText(['df', ...LOCAL], signal, { accepts: [0, 1] }),
          await placesOf(WRITTEN_FOLDERS, signal),
        ),
      ),
      command(at('df.txt'), ['df', '--local', '--print-type', '--human-readable'], {
        accepts: [0, 1],
      }),
      ...(await present([
        file(at('mdstat.txt'), onHost('/proc/mdstat')),
        file(at('fstab.txt'), onHost('/etc/fstab')),
        file(at('partitions.txt'), onHost('/proc/partitions')),
        command(at('lvs.txt'), ['lvs', '--all', '--options=+devices']),
        ...(isUefi ? [command(at('efibootmgr.txt'), ['efibootmgr', '--verbose'])] : []),
      ])),
      // Reads every folder, so it comes after everything that is quick.
      command(
        at('usage.txt'),
        ['du', '--one-file-system', '--max-depth=4', '--threshold=64M', '--block-size=1M', '/var'],
        { phase: 'bulk', deadlineMs: 20_000, accepts: [0, 1] },
      ),
    ];
  },
};

/** A folder of the host, and what it is on, as `df` names that. */
interface Place {
  readonly folder: string;
  readonly source: string;
  readonly target: string;
}

/**
 * `df` lists each device once, at one of its mount points: on ostree that is /sysroot, although /, /etc and /var are
 * on it. So it is asked for the folders themselves. Those that do not exist have no place.
 */
async function placesOf(folders: readonly string[], signal: AbortSignal): Promise<Place[]> {
  const call = ['df', '--output=file,source,target', '--', ...folders] as const;
  const text = await outputText(call, signal, { accepts: [0, 1] });
  return text.split('\n').flatMap((line) => {
    const found = /^(?<folder>\/\S+)\s+(?<source>\S.*?)\s+(?<target>\/.*)$/.exec(line)?.groups;
    const { folder = '', source = '', target = '' } = found ?? {};
    return found === undefined ? [] : [{ folder, source, target }];
  });
}

/** The file systems that can fill up, from `df` output with the columns above. */
export function parseDf(text: string, places: readonly Place[]): FileSystem[] {
  return text.split('\n').flatMap((line) => {
    const fields =
      /^(?<source>.+?)\s+(?<type>\S+)\s+(?<size>\d+)\s+(?<available>-?\d+)\s+(?<files>\d+|-)\s+(?<free>-?\d+|-)\s+(?<target>\/.*)$/.exec(
        line,
      )?.groups;
    if (fields === undefined) return [];
    const { source = '', type = '', target = '', size, available, files, free } = fields;
    if (NOT_FILLED.test(type) || source === 'composefs' || OF_CONTAINERS.test(target)) return [];
    return [
      {
        target,
        source,
        type,
        sizeBytes: Number(size),
        availableBytes: Number(available),
        files: count(files),
        filesFree: count(free),
        writes: places
          .filter((place) => place.target === target || isDevice(place.source, source))
          .map(({ folder }) => folder),
      },
    ];
  });
}

/** Other names, such as tmpfs and overlay, are shared by many. */
const isDevice = (one: string, other: string): boolean => one === other && one.startsWith('/');

const count = (column: string | undefined) => (column === '-' ? 0 : Number(column));
