import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { type CpuManager, misfitOfCpuState } from '../../../lib/host/cpu-manager-state.ts';
import { parseCpuSet } from '../../../lib/host/cpu-set.ts';
import { readTextIfPresent, removeFile } from '../../../lib/host/files.ts';
import type { HostContext } from '../../steps/host-context.ts';

const ONLINE = '/sys/devices/system/cpu/online';

/**
 * Removes what the kubelet remembers of CPUs that this host does not have: after a move of the disk to another
 * board, or another number of CPUs, it would refuse to start. No container runs yet, so that none
 * loses its CPUs.
 */
export const kubeletState: StepBody<HostContext> = {
  name: 'kubelet-state',
  leaves: 'no state of the kubelet that belongs to other hardware',
  touches: ['disk'],
  retries: true,
  input: ({ cluster: { reservedCpus } }) => reservedCpus,
  holds: async (context) => (await misfit(context)) === undefined,
  async run(context, progress) {
    const { reservedCpus } = context.cluster;
    const { online } = await cpuManager(context);
    const missing = (parseCpuSet(reservedCpus ?? '') ?? []).filter((cpu) => !online.includes(cpu));
    if (missing.length > 0) {
      progress.warn(
        `The CPUs ${missing.join(',')} are reserved, and this host does not have them (${online.join(',')}): the kubelet will not start. Correct reservedSystemCPUs in /etc/kubernetes/kubelet.yaml.`,
      );
    }
    const why = await misfit(context);
    if (why === undefined) return done();
    progress.warn(
      `Removed ${context.paths.onHost(stateFile(context))}: ${why}. The kubelet begins with no CPU given to a container.`,
    );
    await removeFile(stateFile(context));
    return done('CPU manager state removed');
  },
};

const stateFile = ({ paths }: HostContext) => join(paths.kubelet, 'cpu_manager_state');

async function misfit(context: HostContext): Promise<string | undefined> {
  const text = await readTextIfPresent(stateFile(context));
  return text === undefined ? undefined : misfitOfCpuState(text, await cpuManager(context));
}

async function cpuManager({ cluster, paths }: HostContext): Promise<CpuManager> {
  const online = parseCpuSet((await readFile(paths.at(ONLINE), 'utf8')).trim()) ?? [];
  const { reservedCpus } = cluster;
  return { online, reserved: reservedCpus === undefined ? undefined : parseCpuSet(reservedCpus) };
}
