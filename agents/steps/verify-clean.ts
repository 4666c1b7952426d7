import { join } from 'node:path';
import { Failure } from '../../lib/errors/failure.ts';
import { exists, readTextIfPresent } from '../../lib/host/files.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import { isLeft, type Ledger, readLedger } from '../../lib/installation/ledger.ts';
import { binaryDestinations, installedPath } from '../../lib/payload/binaries.ts';
import { payloadFile, readPayload } from '../../lib/payload/payload.ts';
import { payloadFiles } from '../../lib/payload/verify.ts';
import { type SearchedFiles, searchFiles } from '../../lib/secrets/scan/search-files.ts';
import { filesOnDisk, type Walk } from '../../lib/secrets/scan/walk.ts';
import type { Progress } from '../../lib/steps/progress.ts';
import { done } from '../../lib/steps/step.ts';
import type { StepBody } from '../../lib/steps/within.ts';
import type { PlainHost } from './host-context.ts';

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
 * Everything else in the runtimes' folders is searched, and of the layers the writable ones of
 * running containers. Those of stopped containers are stored among the image layers under
 * numbers that only the runtime's database can resolve, and are not searched.
 */
const layerFolders = [
  /^\/var\/lib\/containerd\/io\.containerd\.(content|snapshotter)\.v1\.[^/]+$/,
  /^\/var\/lib\/containers\/storage\/overlay$/,
];

/** Volumes of pods: other file systems mounted there belong to the workloads. */
const podVolumes = /^\/var\/lib\/kubelet\/(pods|plugins)\//;

/**
 * Verifies that the clean-up left nothing: no path of the ledger exists, and no file on the
 * host's disks contains a private key of the bootstrap, in any encoding (see `scanForKeys`).
 * Exempt are the payload's files and image layers, both verified by digest, and the programs
 * installed from it, as long as their digests match.
 *
 * etcd's database is searched like any other file. It was compacted and defragmented before the
 * snapshot, so it holds no old revisions, and keys of the class *gone* are never written to the
 * API. Free blocks of the disk are not searched. A host that never had such a key is not searched.
 */
export const verifyClean: StepBody<PlainHost> = {
  name: 'verify-clean',
  leaves: 'verification that no ledger path and no bootstrap key is left',
  input: ({ cluster }) => cluster.clusterId,
  async holds({ paths }, { signal }) {
    const ledger = await readLedger(paths);
    return ledger !== undefined && (await leftPaths(paths, ledger, signal)).length === 0;
  },
  async run({ paths, cluster }, progress) {
    const ledger = await readLedger(paths);
    if (ledger === undefined)
      throw new Failure('fatal', 'the leftovers ledger does not exist', {
        code: 'leftover-remains',
      });
    refusePaths(await leftPaths(paths, ledger, progress.signal));
    if (ledger.goneKeys.length === 0) return done(`${ledger.entries.length} paths deleted`);
    const programs = new Map([[paths.executable, cluster.executableSha256]]);
    const searched = await searchDisk(paths, new Set(ledger.goneKeys), programs, progress);
    refuseKeys(searched.found);
    for (const path of searched.incomplete) {
      progress.warn(`Searched only a part of ${path}: it expands to more than the limit`);
    }
    return done(summary(ledger, searched));
  },
};

async function leftPaths(
  paths: HostPaths,
  { entries }: Ledger,
  signal: AbortSignal,
): Promise<string[]> {
  const left: string[] = [];
  for (const entry of entries) if (await isLeft(paths, entry, signal)) left.push(entry.path);
  return left;
}

function refusePaths(left: readonly string[]): void {
  if (left.length === 0) return;
  throw new Failure('fatal', `files of the bootstrap still exist: ${left.join(', ')}`, {
    code: 'leftover-remains',
    expected: 'none of the paths in the leftovers ledger',
    fix: 'Find out what recreated them, delete them, and start the unit again.',
  });
}

function refuseKeys(found: readonly string[]): void {
  if (found.length === 0) return;
  throw new Failure('fatal', `a private key of the bootstrap is in ${found.join(', ')}`, {
    code: 'leftover-remains',
    expected: 'no key that the leftovers ledger lists as deleted',
    fix: 'Delete the files or the key in them, and start the unit again.',
  });
}

/** Returned paths are those on the host, without the root. */
async function searchDisk(
  paths: HostPaths,
  wanted: ReadonlySet<string>,
  programs: ReadonlyMap<string, string>,
  { signal }: Progress,
): Promise<SearchedFiles> {
  const { verified, installed } = await payloadOnHost(paths);
  const onHost = pathsOnHost(paths);
  const searched = await searchFiles(
    filesOnDisk(walkOfHost(paths, verified, await writableLayers(paths))),
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

/** The files to search. `verified`: files whose digests were compared; `layers`: of running containers. */
export function walkOfHost(
  paths: HostPaths,
  verified: ReadonlySet<string>,
  layers: readonly string[],
): Walk {
  const onHost = pathsOnHost(paths);
  return {
    root: paths.root,
    folders: [...searchedFolders, ...layers].map(paths.at),
    exempt: (path) => verified.has(path) || layerFolders.some((each) => each.test(onHost(path))),
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

function summary({ entries }: Ledger, { files, bytes, keys }: SearchedFiles): string {
  return `${entries.length} paths deleted; searched ${files} files, ${Math.round(bytes / 1e6)} MB, ${keys.size} private keys`;
}
