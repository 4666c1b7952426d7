import { DEFERRED_AGENT } from '../../../lib/engine/agents/table.ts';
import type { Progress } from '../../../lib/engine/steps/progress.ts';
import { restartUnit, unitProperties } from '../../../lib/host/systemd.ts';
import { issuedLeaves } from '../../../lib/render/kubernetes/leaves.ts';
import { restartedBy } from './pods.ts';

const DEFERRED = `${DEFERRED_AGENT}.service`;

/**
 * Restarts the services of the host that read one of the changed files only when they start: the
 * kubelet, whose containers keep running, and sno-deferred while it waits for a kind.
 *
 * @param changed paths on the host.
 * @param restarts is told the name of each before it is restarted.
 */
export async function restartUnits(
  changed: readonly string[],
  restarts: (name: string) => Promise<void>,
  progress: Progress,
): Promise<void> {
  if (restartedBy(changed).includes('kubelet')) {
    progress.say('Restarting the kubelet, which reads the changed files only when it starts');
    await restarts('kubelet');
    await progress.wait('the kubelet to start', () =>
      restartUnit('kubelet.service', progress.signal),
    );
  }
  if (!changed.includes(issuedLeaves.deferred.certificate)) return;
  const { ActiveState } = await unitProperties(DEFERRED, ['ActiveState'], progress.signal);
  if (ActiveState !== 'active') return;
  await restarts(DEFERRED_AGENT);
  await restartUnit(DEFERRED, progress.signal);
}
