import { Failure } from '../../lib/errors/failure.ts';
import type { RunningCheck, RunningCluster } from './check.ts';
import { kubectl } from './kubectl.ts';

const PROGRAM = '/usr/local/bin/sno-backup';
const CREATE_MS = 120_000;
const RESTORE_MS = 8 * 60_000;

async function backupCommand(
  { host }: RunningCluster,
  args: readonly string[],
  timeoutMs: number,
  signal: AbortSignal,
): Promise<string> {
  const { exitCode, stdout, stderr } = await host.exec([PROGRAM, ...args], { timeoutMs }, signal);
  if (exitCode === 0) return stdout.trim();
  throw new Failure('fatal', `sno-backup ${args.join(' ')} failed`, { found: stderr.trim() });
}

/** The containers of the add-ons, by their ids: workloads that no check deletes. */
const workloadContainers = (cluster: RunningCluster, signal: AbortSignal) =>
  kubectl(
    cluster,
    [
      ...['get', 'pods', '-A', '-l', 'sno-agents/add-on', '--sort-by=.metadata.name'],
      ...['-o', 'jsonpath={.items[*].status.containerStatuses[*].containerID}'],
    ],
    signal,
  );

const existing = async (cluster: RunningCluster, name: string, signal: AbortSignal) =>
  (await kubectl(cluster, ['get', 'configmap', name, '--ignore-not-found'], signal)) !== '';

/** Changes every revision of the cluster: nothing that compares them may come later. */
export const backup: RunningCheck = {
  name: 'a backup is made and restored, and the containers of workloads go on',
  run: async (cluster, signal) => {
    const create = (name: string) => kubectl(cluster, ['create', 'configmap', name], signal);
    await create('before-backup');
    const name = await backupCommand(cluster, ['create'], CREATE_MS, signal);
    const listed = await backupCommand(cluster, ['list'], CREATE_MS, signal);
    if (!new RegExp(`^${name} +complete `, 'm').test(listed)) {
      throw new Failure('fatal', 'the new backup is not listed', { expected: name, found: listed });
    }
    await create('after-backup');
    await kubectl(cluster, ['delete', 'configmap', 'before-backup'], signal);
    const running = await workloadContainers(cluster, signal);
    await backupCommand(cluster, ['restore', '--from', name, '--yes'], RESTORE_MS, signal);
    if (!(await existing(cluster, 'before-backup', signal))) {
      throw new Failure('fatal', 'the restore did not bring back a deleted object');
    }
    if (await existing(cluster, 'after-backup', signal)) {
      throw new Failure('fatal', 'the restore kept an object that is newer than the backup');
    }
    const after = await workloadContainers(cluster, signal);
    if (after !== running) {
      throw new Failure('fatal', 'containers of workloads were restarted', {
        expected: running,
        found: after,
      });
    }
  },
};
