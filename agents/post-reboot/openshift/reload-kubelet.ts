import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { reloadUnits, restartUnit, unitProperties } from '../../../lib/host/systemd.ts';
import type { HostContext } from '../../steps/host-context.ts';

const UNIT = 'kubelet.service';

/**
 * Restarts the kubelet if a drop-in of its unit has appeared since it started:
 * nodeip-configuration.service writes the node's address into one at the first boot. A restarted
 * kubelet leaves its containers alone.
 */
export const reloadKubelet: StepBody<HostContext> = {
  name: 'reload-kubelet',
  leaves: 'a kubelet that runs with all drop-ins of its unit',
  touches: ['systemd'],
  retries: true,
  neededUntil: 'clean',
  input: ({ hostname }) => hostname(),
  holds: async (_context, { signal }) => !(await isOutdated(signal)),
  async run(_context, { signal }) {
    if (!(await isOutdated(signal))) return done('its unit has not changed');
    await reloadUnits(signal);
    await restartUnit(UNIT, signal);
    return done('restarted');
  },
};

async function isOutdated(signal: AbortSignal): Promise<boolean> {
  const { NeedDaemonReload } = await unitProperties(UNIT, ['NeedDaemonReload'], signal);
  return NeedDaemonReload === 'yes';
}
