import { done, notYet } from '../../../lib/engine/steps/step.ts';
import { readTrial } from '../../../lib/engine/trial/store.ts';
import { exists } from '../../../lib/host/files.ts';
import { runOutsideSandbox } from '../../../lib/host/outside-sandbox.ts';
import { stopUnit, unitProperties } from '../../../lib/host/systemd.ts';
import type { SiteStep } from '../or-back.ts';
import { goOnWithCopies, stopPods } from '../stop.ts';
import { BEFORE_RUNTIME, BRIDGE_UNITS, KUBELET, RUNTIME } from './units.ts';

/**
 * Stops the kubelet, every pod (the machine-config daemon is one) and CRI-O, and ends what waits for a network: a sealed host
 * whose new network gives no address has neither CRI-O nor a pod. The change then continues with copies of the folders that
 * operators write; the trial has the originals.
 */
export const stopOpenShift: SiteStep = {
  name: 'stop',
  leaves: 'no kubelet, no CRI-O and no pods; copies of the folders that change, in their places',
  touches: ['systemd', 'runtime', 'disk'],
  neededUntil: 'start',
  async holds({ paths }, { signal }) {
    for (const unit of [KUBELET, RUNTIME]) if (!(await isStopped(unit, signal))) return false;
    const moved = (await readTrial(paths))?.points.moved ?? [];
    for (const { aside } of moved) if (!(await exists(paths.at(aside)))) return false;
    return true;
  },
  async run({ paths }, progress) {
    const { signal } = progress;
    await progress.wait('the kubelet to stop', () => stopUnit(KUBELET, signal));
    const runtime = await stateOf(RUNTIME, signal);
    // While CRI-O starts, there may be containers, and nothing yet that could be told to end them.
    if (runtime === 'activating') return notYet(`${RUNTIME} is starting`);
    const stopped = runtime === 'active' ? await stopPods(paths, progress) : 0;
    // CRI-O requires the target: it stops as well, and its start is given up if it has been waiting for a network.
    for (const unit of [BEFORE_RUNTIME, ...BRIDGE_UNITS]) await stopUnit(unit, signal);
    await stopUnit(RUNTIME, signal);
    await goOnWithCopies(
      paths,
      (await readTrial(paths))?.points.moved ?? [],
      progress,
      runOutsideSandbox,
    );
    return done(`${stopped} pods`);
  },
};

const stateOf = async (unit: string, signal: AbortSignal): Promise<string | undefined> =>
  (await unitProperties(unit, ['ActiveState'], signal)).ActiveState;

async function isStopped(unit: string, signal: AbortSignal): Promise<boolean> {
  const state = await stateOf(unit, signal);
  return state === 'inactive' || state === 'failed';
}
