import { rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Failure } from '../../../lib/base/errors/failure.ts';
import {
  type StagedSystem,
  stagedFile,
} from '../../../lib/cluster/installation/in-place/staged.ts';
import { markerOf, readMarker, writeMarker } from '../../../lib/cluster/installation/marker.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { run } from '../../../lib/host/command.ts';
import { exists, sha256OfFile, syncDirectory } from '../../../lib/host/files.ts';
import { replaceLinks } from '../../../lib/host/links.ts';
import { machineIdentity } from '../../../lib/host/machine-identity.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { relabel } from '../../../lib/host/selinux-labels.ts';
import { syncFileSystems } from '../../../lib/host/sync.ts';
import type { MarkedHost } from '../marker.ts';

const SYSTEMCTL_MS = 60_000;

/**
 * Makes the disk that of the installed host: everything is moved to its place, its units are enabled, and it is marked as
 * finished, last. Once begun, it only goes forward: after a power cut the next boot continues it
 * (agents/in-place/stage.ts), before anything of the installed host starts.
 *
 * @param diskOf the disk without what covers it
 */
export const commit = (diskOf: (host: MarkedHost) => HostPaths): StepBody<MarkedHost> => ({
  name: 'commit',
  leaves: 'the installed host on this disk, and the marker of a finished installation',
  touches: ['disk', 'systemd'],
  retries: true,
  input: ({ cluster }) => cluster.clusterId,
  async holds(host) {
    const marker = await readMarker(diskOf(host).at('/var'));
    return marker?.clusterId === host.cluster.clusterId && marker.state === 'finished';
  },
  async run(host, { signal }) {
    const disk = diskOf(host);
    const file = stagedFile(disk);
    const staged = await file.read();
    if (staged?.clusterId !== host.cluster.clusterId) throw nothingStaged(file.path, staged);
    await file.write({ ...staged, state: 'committing' });
    await moveFiles(disk, staged, signal);
    await replaceLinks(disk, staged.links);
    await systemctl(disk, 'disable', staged.disabled, signal);
    await systemctl(disk, 'enable', staged.enabled, signal);
    await relabel(host.paths, placesOf(staged), signal, disk);
    await syncFileSystems([disk.at('/etc'), disk.at('/var')], signal);
    const machine = await machineIdentity(host.paths);
    await writeMarker(disk.at('/var'), markerOf(host.cluster, 'finished', machine));
    return done(`${staged.files.length} files`);
  },
});

/** Enabling has made links and folders there. */
const UNITS = '/etc/systemd/system';

const placesOf = ({ files, links, folders }: StagedSystem): string[] => [
  ...[...files, ...links].map(({ path }) => path),
  ...folders,
  UNITS,
];

async function moveFiles(
  disk: HostPaths,
  { files }: StagedSystem,
  signal: AbortSignal,
): Promise<void> {
  for (const { path, staged, sha256 } of files) {
    const place = disk.at(path);
    if (await exists(disk.at(staged))) await rename(disk.at(staged), place);
    else if (!(await exists(place)) || (await sha256OfFile(place, signal)) !== sha256) {
      throw new Failure('fatal', `${path} of the installed host is gone`, {
        expected: `the file, or ${staged}`,
        fix: 'Write the image to this disk again, with an Ignition config of its own.',
      });
    }
  }
  const folders = new Set(files.map(({ path }) => dirname(disk.at(path))));
  for (const folder of folders) await syncDirectory(folder);
}

/** On the disk alone: the systemd that runs must not start anything of it. */
async function systemctl(
  disk: HostPaths,
  verb: 'enable' | 'disable',
  units: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  if (units.length === 0) return;
  // With the system's mask, not that of the agent's unit, for the folders of links that it makes.
  const open = ['-c', 'umask 022 && exec systemctl "$@"', 'systemctl'];
  const args = [`--root=${disk.root}`, verb, ...units];
  await run('sh', [...open, ...args], { signal, deadlineMs: SYSTEMCTL_MS });
}

const nothingStaged = (path: string, found: StagedSystem | undefined): Failure =>
  new Failure('fatal', 'nothing of this installation is on the disk', {
    expected: `${path} of this cluster`,
    found: found === undefined ? 'none' : `that of ${found.clusterId}`,
  });
