import { type EndingAgent, unitOf } from '../../lib/agents/table.ts';
import type { BundleView } from '../bundle-view.ts';
import { hostFiles, installedHosts } from './hosts.ts';
import { currentStepJournals } from './steps.ts';
import { unitsOf } from './units.ts';
import { textAt } from './values.ts';

/**
 * Only the marker of an all-in-one host names the machine (lib/installation/marker.ts). aiokube
 * writes it in its first step; until then its unit tells.
 */
export function isAllInOne(view: BundleView): boolean {
  const markers = hostFiles(view, 'agents/installation.json');
  if (markers.length === 0) return isStillThere(view, 'aiokube');
  return markers.some((path) => textAt(view.json(path), 'machine') !== undefined);
}

/**
 * The unit that completes the installation on the installed host, without `.service`; undefined if it
 * is complete, since that unit is deleted then.
 */
export function installingUnit(view: BundleView): string | undefined {
  const agent: EndingAgent = isAllInOne(view) ? 'aiokube' : 'post-reboot';
  const isComplete = hostFiles(view, 'agents/record.json').length > 0;
  return isComplete && !isStillThere(view, agent) ? undefined : unitOf(agent);
}

/** Its unit and its journal are deleted with it. */
const isStillThere = (view: BundleView, agent: EndingAgent): boolean =>
  installedHosts(view).some((host) => unitsOf(view, host).has(`${unitOf(agent)}.service`)) ||
  currentStepJournals(view).some((journal) => journal.agent === agent);

/**
 * What starts the kubelet again, and the agent that waits for it: aiokube starts its own kubelet.
 * "restart" also starts one that is not running.
 */
export function startCommand(view: BundleView): string {
  const unit = installingUnit(view);
  if (unit === undefined) return 'systemctl restart kubelet';
  return unit === unitOf('aiokube') ? `systemctl start ${unit}` : `systemctl start kubelet ${unit}`;
}

/** The same for documentation, which is about every host. */
export const START_COMMANDS =
  'run "systemctl start kubelet bootkube", on an all-in-one host "systemctl start aiokube", and "systemctl restart kubelet" if the installation is complete';
