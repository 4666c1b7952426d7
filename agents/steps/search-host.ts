import { join } from 'node:path';
import { exists, readTextIfPresent } from '../../lib/host/files.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import { binaryDestinations, installedPath } from '../../lib/payload/binaries.ts';
import { payloadFile, readPayload } from '../../lib/payload/payload.ts';
import { payloadFiles } from '../../lib/payload/verify.ts';
import { type SearchedFiles, searchFiles } from '../../lib/secrets/scan/search-files.ts';
import { filesOnDisk, type Walk } from '../../lib/secrets/scan/walk.ts';
import { otherDeployments } from './other-deployments.ts';

/**
 * Where a host stores what it was given. /usr belongs to the operating system and is read-only
 * or comes from packages; /run and the like do not survive a reboot. Where one of them is a
 * link (CoreOS: /opt, /home, /root, /srv and /usr/local point into /var), its target is
 * searched there.
 */
const searchedFolders = [
  '/etc',
  '/var',
  '/opt',
  '/root',
  '/home',
  '/boot',
  '/srv',
  '/usr/local',
  '/tmp',
];

/**
 * Image layers of containerd and CRI-O, whose digests were known before the bootstrap.
 * Everything else in the runtimes' folders is always searched. The writable layers of containers
 * are stored among them, under numbers that only the runtime's database can resolve.
 */
const layerFolders = [
  /^\/var\/lib\/containerd\/io\.containerd\.(content|snapshotter)\.v1\.[^/]+$/,
  /^\/var\/lib\/containers\/storage\/overlay$/,
];

/** Volumes of pods: other file systems mounted there belong to the workloads. */
const podVolumes = /^\/var\/lib\/kubelet\/(pods|plugins)\//;

export interface HostSearch {
  /** Fingerprints of the keys that no file may have. */
  readonly wanted: ReadonlySet<string>;
  /** SHA-256 (hex) of programs by their paths: not searched while they have these digests. */
  readonly programs: ReadonlyMap<string, string>;
  /**
   * Which layers of containers are searched: the writable ones of running containers, or all, with those
   * of images and of stopped containers, which takes as long as reading every image.
   */
  readonly layers: 'running' | 'all';
}

/**
 * Searches the files on the host's disks for private keys, in any encoding (see `scanForKeys`). Exempt are
 * the payload's files, verified by digest, and the programs installed from it, as long as their digests match.
 * Returned paths are those on the host, without the root.
 */
export async function searchHost(
  paths: HostPaths,
  { wanted, programs, layers }: HostSearch,
  signal: AbortSignal,
): Promise<SearchedFiles> {
  const { verified, installed } = await payloadOnHost(paths);
  const onHost = pathsOnHost(paths);
  const running = await writableLayers(paths);
  const searched = await searchFiles(
    filesOnDisk(
      walkOfHost(
        paths,
        verified,
        layers === 'all' ? 'all' : running,
        await otherDeployments(paths),
      ),
    ),
    { wanted, known: new Map([...programs, ...installed]) },
    signal,
  );
  return {
    ...searched,
    found: searched.found.map(onHost).sort(),
    incomplete: searched.incomplete.map(onHost).sort(),
  };
}

/** Converts a path below the root to the path on the host. */
const pathsOnHost = (paths: HostPaths) => (path: string) => path.slice(paths.at('').length);

/**
 * The files to search. `verified`: files whose digests were compared; `layers`: folders, or every one; `more`: folders
 * beside the usual ones.
 */
export function walkOfHost(
  paths: HostPaths,
  verified: ReadonlySet<string>,
  layers: readonly string[] | 'all',
  more: readonly string[] = [],
): Walk {
  const onHost = pathsOnHost(paths);
  const isLayer = (path: string) => layerFolders.some((each) => each.test(onHost(path)));
  return {
    root: paths.root,
    folders: [...searchedFolders, ...more, ...(layers === 'all' ? [] : layers)].map(paths.at),
    exempt: (path) => verified.has(path) || (layers !== 'all' && isLayer(path)),
    oneDevice: (path) => podVolumes.test(onHost(path)),
  };
}

interface PayloadOnHost {
  /** The payload files listed with digests in its description; nothing else in its folder. */
  verified: ReadonlySet<string>;
  /** Digests of its binaries by installed path. */
  installed: ReadonlyMap<string, string>;
}

async function payloadOnHost(paths: HostPaths): Promise<PayloadOnHost> {
  const folder = paths.payload;
  if (!(await exists(join(folder, payloadFile)))) {
    return { verified: new Set(), installed: new Map() };
  }
  const payload = await readPayload(folder);
  const destinations = binaryDestinations(paths);
  return {
    verified: new Set(payloadFiles(payload).map(({ path }) => join(folder, path))),
    installed: new Map(
      payload.binaries.map((binary) => [installedPath(binary, destinations), binary.sha256]),
    ),
  };
}

/** The upper folders of mounted overlays: files written by running containers. */
async function writableLayers(paths: HostPaths): Promise<string[]> {
  const mounts = (await readTextIfPresent(paths.at('/proc/self/mountinfo'))) ?? '';
  return [...mounts.matchAll(/(?<=[ ,]upperdir=)\/var\/lib\/contain[^, \n]+/g)].map(
    ([folder]) => folder,
  );
}
