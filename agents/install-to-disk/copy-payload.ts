import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import { findMarker, markerOf, writeMarker } from '../../lib/cluster/installation/marker.ts';
import { installingAgents } from '../../lib/engine/agents/table.ts';
import { journalPath } from '../../lib/engine/steps/agent-command.ts';
import { done } from '../../lib/engine/steps/step.ts';
import type { StepBody } from '../../lib/engine/steps/within.ts';
import { copyFile } from '../../lib/host/copy.ts';
import { sha256OfFiles } from '../../lib/host/digests.ts';
import { partition, readDisk } from '../../lib/host/disk.ts';
import { readTextIfPresent, writeFileAtomic } from '../../lib/host/files.ts';
import { type MountRequest, withMounted } from '../../lib/host/mount.ts';
import { bootEntries, bootingVar, varFolders } from '../../lib/host/var-folders.ts';
import { copyPayloadTo } from '../../lib/payload/copy.ts';
import { readPayload } from '../../lib/payload/payload.ts';
import type { InstallContext } from '../steps/host-context.ts';
import { usedPayloadFolder } from '../steps/payload-folder.ts';

/**
 * Copies the executable and the payload to the new system's /var, verifies both by reading them
 * back, and only then marks the installation as finished: until then a restarted live stage
 * rewrites the disk.
 */
export const copyPayload: StepBody<InstallContext> = {
  name: 'copy-payload',
  leaves:
    "the executable in the new system's /var, the payload if there is one, and the marker of a finished installation",
  touches: ['disk'],
  retries: true,
  input: ({ cluster }) => [cluster.clusterId, cluster.executableSha256],
  async holds(context, { signal }) {
    const { clusterId } = context.cluster;
    const request = await partitionNamed('root', context, false, signal);
    const placed = await withMounted(request, (root) => findMarker(root, clusterId));
    return placed?.marker.clusterId === clusterId && placed.marker.state === 'finished';
  },
  async run(context, progress) {
    const request = await partitionNamed('root', context, true, progress.signal);
    await progress.wait('the payload to be copied to the disk', () =>
      withMounted(request, (root) => fill(context, root, progress.signal)),
    );
    return done();
  },
};

async function fill(context: InstallContext, root: string, signal: AbortSignal): Promise<void> {
  const { cluster, paths } = context;
  const folder = await bootingVar(await varFolders(root), async () =>
    withMounted(await partitionNamed('boot', context, false, signal), bootEntries),
  );
  const state = join(folder, 'lib/sno-agents');
  await mkdir(state, { recursive: true, mode: 0o755 });
  await writeMarker(folder, markerOf(cluster, 'writing'));
  await copyExecutable(
    paths.executable,
    join(state, 'bin/sno-agents'),
    cluster.executableSha256,
    signal,
  );
  // OpenShift comes from its release image.
  if (cluster.controlPlane === 'kubernetes') {
    const payload = await readPayload(await usedPayloadFolder(context));
    await copyPayloadTo(payload, join(state, 'payload'), signal);
  }
  // They are lost with the live host; the record of the installation is built from them.
  for (const { name } of installingAgents.live) {
    const journal = await readTextIfPresent(journalPath(paths, name));
    await writeFileAtomic(join(state, `live/${name}.jsonl`), journal ?? '', 0o644);
  }
  await writeMarker(folder, markerOf(cluster, 'finished'));
}

async function copyExecutable(
  source: string,
  target: string,
  expected: string,
  signal: AbortSignal,
) {
  await copyFile(source, target, 0o755, signal);
  const found = (await sha256OfFiles([target], signal)).get(target);
  if (found === expected) return;
  throw new Failure('retry', 'the copy of the executable is damaged', {
    code: 'executable-mismatch',
    expected,
    found,
  });
}

async function partitionNamed(
  label: 'root' | 'boot',
  { cluster, paths }: InstallContext,
  writable: boolean,
  signal: AbortSignal,
): Promise<MountRequest> {
  const disk = await readDisk(cluster.installation.disk, paths, signal);
  const found = partition(disk, label);
  if (found === undefined) {
    throw new Failure(
      'retry',
      `${cluster.installation.disk} has no partition with the label ${label}`,
      {
        found:
          (disk.children ?? []).map((child) => child.label ?? '-').join(', ') || 'no partitions',
      },
    );
  }
  return { device: found.path, fstype: found.fstype, writable, runFolder: paths.run, signal };
}
