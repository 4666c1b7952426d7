import { connectHostRuntime } from '../../lib/clients/cri/runtime.ts';
import type { Progress } from '../../lib/engine/steps/progress.ts';
import { done } from '../../lib/engine/steps/step.ts';
import { replaceFolder } from '../../lib/engine/trial/points.ts';
import type { PointsOfReturn } from '../../lib/engine/trial/trial.ts';
import { run } from '../../lib/host/command.ts';
import { exists } from '../../lib/host/files.ts';
import type { runOutsideSandbox } from '../../lib/host/outside-sandbox.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import { syncTree } from '../../lib/host/sync-tree.ts';
import { stopUnit, unitProperties } from '../../lib/host/systemd.ts';
import { REQUEST_DEADLINE_MS } from '../steps/request-deadline.ts';
import { areStopped, stopContainers } from '../steps/static-pods.ts';
import { hasIdentityBegun } from './context.ts';
import type { SiteStep } from './or-back.ts';
import { MOVED } from './touched.ts';

/** Of what runs in pods, such as a database. */
const GRACE_SECONDS = 30;
const COPY_MS = 10 * 60_000;

/**
 * Stops the kubelet and every pod: they must see neither two networks nor two identities. The change then continues
 * with copies of the folders that it changes as a whole, such as etcd's; the trial has the originals.
 */
export const stopForSite: SiteStep = {
  name: 'stop',
  leaves: 'no kubelet and no pods; copies of the folders that change, in their places',
  touches: ['systemd', 'runtime', 'disk'],
  neededUntil: 'start',
  async holds(context, { signal }) {
    const { paths } = context;
    if (await hasIdentityBegun(context)) return true;
    const { ActiveState } = await unitProperties('kubelet.service', ['ActiveState'], signal);
    if (ActiveState !== 'inactive' && ActiveState !== 'failed') return false;
    for (const { aside } of MOVED) if (!(await exists(paths.at(aside)))) return false;
    return areStopped(paths, undefined, signal);
  },
  async run({ paths }, progress) {
    await progress.wait('the kubelet to stop', () => stopUnit('kubelet.service', progress.signal));
    const stopped = await stopPods(paths, progress);
    await goOnWithCopies(paths, MOVED, progress, run);
    return done(`${stopped} pods`);
  },
};

/** Ends every pod of the runtime. Returns how many there were. */
export async function stopPods(paths: HostPaths, progress: Progress): Promise<number> {
  await stopContainers(paths, { graceSeconds: GRACE_SECONDS }, progress);
  using runtime = connectHostRuntime(paths);
  const limits = { signal: progress.signal, deadlineMs: REQUEST_DEADLINE_MS };
  const pods = await runtime.listPodSandboxes(limits);
  for (const { id } of pods) await runtime.stopPodSandbox(id, limits);
  return pods.length;
}

/** Puts a copy in the place of each folder, once: the trial has the originals. `runProgram` may give files to their owners. */
export async function goOnWithCopies(
  paths: HostPaths,
  folders: readonly PointsOfReturn['moved'][number][],
  progress: Progress,
  runProgram: typeof runOutsideSandbox,
): Promise<void> {
  const limits = { signal: progress.signal, deadlineMs: COPY_MS };
  for (const moved of folders) {
    const next = `${paths.at(moved.path)}.site`;
    if (!(await exists(paths.at(moved.aside)))) {
      // What an interrupted attempt has left is replaced.
      await runProgram('rm', ['-rf', '--one-file-system', '--', next], limits);
      const copy = ['--archive', '--reflink=auto', '--', paths.at(moved.path), next];
      await runProgram('cp', copy, limits);
      await syncTree(next, progress.signal);
    }
    await replaceFolder(paths, moved, next);
  }
}
