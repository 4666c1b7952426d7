import { type EndingAgent, unitOf } from '../../lib/engine/agents/table.ts';
import type { BundleView } from '../bundle-view.ts';
import { hostFiles, installedHosts } from './hosts.ts';
import { currentStepJournals } from './steps.ts';
import { unitsOf } from './units.ts';
import { textAt } from './values.ts';

/**
 * Only the marker of a host without a live stage names the machine (lib/cluster/installation/marker.ts). aiokube
 * writes it in its first step; until then its unit tells.
 */
export function isAllInOne(view: BundleView): boolean {
  if (isWorker(view)) return false;
  const markers = hostFiles(view, 'agents/installation.json');
  if (markers.length === 0) return isStillThere(view, 'aiokube');
  return markers.some((path) => textAt(view.json(path), 'machine') !== undefined);
}

/**
 * The unit that completes the installation on the installed host, without `.service`; undefined if it
 * is complete, since that unit is deleted then.
 */
export function installingUnit(view: BundleView): string | undefined {
  const agent = endingAgent(view);
  const isComplete = hostFiles(view, 'agents/record.json').length > 0;
  return isComplete && !isStillThere(view, agent) ? undefined : unitOf(agent);
}

function endingAgent(view: BundleView): EndingAgent {
  if (isWorker(view)) return 'worker';
  return isAllInOne(view) ? 'aiokube' : 'post-reboot';
}

/** By the unit that forwards the API, which stays. */
const isWorker = (view: BundleView): boolean =>
  installedHosts(view).some((host) => unitsOf(view, host).has('sno-api.service'));

/** Whether the unit starts the kubelet itself, once everything before that is done. */
export const startsKubelet = (unit: string | undefined): boolean =>
  unit === unitOf('aiokube') || unit === unitOf('worker');

/** Its unit and its journal are deleted with it. */
const isStillThere = (view: BundleView, agent: EndingAgent): boolean =>
  installedHosts(view).some((host) => unitsOf(view, host).has(`${unitOf(agent)}.service`)) ||
  currentStepJournals(view).some((journal) => journal.agent === agent);

/**
 * What starts the kubelet again, and the agent that waits for it: some start the kubelet themselves.
 * "restart" also starts one that is not running.
 */
export function startCommand(view: BundleView): string {
  const unit = installingUnit(view);
  if (unit === undefined) return 'systemctl restart kubelet';
  return startsKubelet(unit) ? `systemctl start ${unit}` : `systemctl start kubelet ${unit}`;
}

/** The same for documentation, which is about every host. */
export const START_COMMANDS =
  'run "systemctl start kubelet bootkube", on an all-in-one host "systemctl start aiokube", and "systemctl restart kubelet" if the installation is complete';
