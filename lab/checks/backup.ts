import { Failure } from '../../lib/base/errors/failure.ts';
import { isAfter } from '../../lib/clients/kube/node-ready.ts';
import { eventually } from '../eventually.ts';
import { onHost } from '../host/on-host.ts';
import type { RunningCheck, RunningCluster } from './check.ts';
import { kubectl } from './kubectl.ts';

const PROGRAM = '/usr/local/bin/sno-backup';
const RESTORE_MS = 8 * 60_000;
const WORKLOADS_MS = 2 * 60_000;
const COMMAND_MS = 20_000;

const CONTAINER = '{.containerID}{" "}{.state.running.startedAt}';

/** When the host's systemd started, by its own clock. */
async function bootTime({ host }: RunningCluster, signal: AbortSignal): Promise<Date> {
  const timestamp = ['--timestamp=unix', '--property=UserspaceTimestamp', '--value'];
  const argv = ['systemctl', 'show', ...timestamp];
  const { stdout } = await host.exec(argv, { timeoutMs: COMMAND_MS }, signal);
  const seconds = /^@(\d+)$/.exec(stdout.trim())?.[1];
  if (seconds === undefined) throw new Failure('fatal', 'systemd does not say when it started');
  return new Date(Number(seconds) * 1000);
}

/**
 * The containers of the add-ons, by their ids: workloads that no check deletes. All of this boot: after a restart of the
 * host, the API has those of before until the kubelet tells it of others.
 */
async function workloadContainers(cluster: RunningCluster, signal: AbortSignal): Promise<string[]> {
  const bootedAt = await bootTime(cluster, signal);
  const found = await kubectl(
    cluster,
    [
      ...['get', 'pods', '-A', '-l', 'sno-agents/add-on', '--sort-by=.metadata.name', '-o'],
      `jsonpath={range .items[*].status.containerStatuses[*]}${CONTAINER}{"\\n"}{end}`,
    ],
    signal,
  );
  return found
    .trim()
    .split('\n')
    .map((line) => {
      const [id = '', startedAt = ''] = line.split(' ');
      if (isAfter(startedAt, bootedAt)) return id;
      throw new Failure('retry', 'a container of a workload has not started in this boot', {
        found: line,
      });
    });
}

const existing = async (cluster: RunningCluster, name: string, signal: AbortSignal) =>
  (await kubectl(cluster, ['get', 'configmap', name, '--ignore-not-found'], signal)) !== '';

/** Changes every revision of the cluster: nothing that compares them may come later. */
export const backup: RunningCheck = {
  name: 'a backup is made and restored, and the containers of workloads go on',
  run: async (cluster, signal) => {
    const create = (name: string) => kubectl(cluster, ['create', 'configmap', name], signal);
    await create('before-backup');
    const name = await onHost(cluster.host, [PROGRAM, 'create'], signal);
    const listed = await onHost(cluster.host, [PROGRAM, 'list'], signal);
    if (!new RegExp(`^${name} +complete `, 'm').test(listed)) {
      throw new Failure('fatal', 'the new backup is not listed', { expected: name, found: listed });
    }
    await create('after-backup');
    await kubectl(cluster, ['delete', 'configmap', 'before-backup'], signal);
    const workloads = () =>
      eventually(() => workloadContainers(cluster, signal), WORKLOADS_MS, signal);
    const running = await workloads();
    await onHost(cluster.host, [PROGRAM, 'restore', '--from', name, '--yes'], signal, RESTORE_MS);
    if (!(await existing(cluster, 'before-backup', signal))) {
      throw new Failure('fatal', 'the restore did not bring back a deleted object');
    }
    if (await existing(cluster, 'after-backup', signal)) {
      throw new Failure('fatal', 'the restore kept an object that is newer than the backup');
    }
    const after = await workloads();
    if (after.join() !== running.join()) {
      throw new Failure('fatal', 'containers of workloads were restarted', {
        expected: running.join(),
        found: after.join(),
      });
    }
  },
};
