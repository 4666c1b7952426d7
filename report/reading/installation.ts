import { ENDING_AGENTS, unitOf } from '../../lib/agents/table.ts';
import type { BundleView } from '../bundle-view.ts';
import { hostFiles, installedHosts } from './hosts.ts';
import { currentStepJournals } from './steps.ts';
import { unitsOf } from './units.ts';
import { textAt } from './values.ts';

/** Only its marker names the machine (lib/installation/marker.ts). */
export const isAllInOne = (view: BundleView): boolean =>
  hostFiles(view, 'agents/installation.json').some(
    (path) => textAt(view.json(path), 'machine') !== undefined,
  );

/**
 * The unit that completes the installation on the installed host, without `.service`; undefined if it
 * is complete, since that unit is deleted then.
 */
export function installingUnit(view: BundleView): string | undefined {
  const units = installedHosts(view).flatMap((host) => [...unitsOf(view, host).keys()]);
  const journals = currentStepJournals(view).map(({ agent }) => agent);
  const agent = ENDING_AGENTS.find(
    (name) => units.includes(`${unitOf(name)}.service`) || journals.includes(name),
  );
  if (agent !== undefined) return unitOf(agent);
  return hostFiles(view, 'agents/record.json').length > 0 ? undefined : unitOf('post-reboot');
}

/** What starts the kubelet again, and the agent that waits for it: aiokube starts its own kubelet. */
export function startCommand(view: BundleView): string {
  const unit = installingUnit(view);
  if (unit === undefined) return 'systemctl start kubelet';
  return unit === unitOf('aiokube') ? `systemctl start ${unit}` : `systemctl start kubelet ${unit}`;
}

/** The same for documentation, which is about every host. */
export const START_COMMANDS =
  'run "systemctl start kubelet bootkube", on an all-in-one host "systemctl start aiokube", and "systemctl start kubelet" if the installation is complete';
