import { done } from '../../lib/engine/steps/step.ts';
import type { StepBody } from '../../lib/engine/steps/within.ts';
import { reloadUnits, startUnit, unitProperties } from '../../lib/host/systemd.ts';
import type { InPlaceHost } from './context.ts';
import { entriesOf } from './open.ts';

/** Starts what a live host starts at its boot: bootkube, and the agents beside it. */
export const startUnits: StepBody<InPlaceHost> = {
  name: 'start',
  leaves: 'the agents of a live host, started',
  touches: ['systemd'],
  input: ({ cluster }) => [cluster.clusterId, cluster.bundle.sha256],
  async holds(host, { signal }) {
    // A timer or a path unit whose condition is not met says nothing of having been started.
    const services = (await entriesOf(host)).enabled.filter((unit) => unit.endsWith('.service'));
    for (const unit of services) if (!(await isStarted(unit, signal))) return false;
    return true;
  },
  async run(host, { signal }) {
    const { enabled } = await entriesOf(host);
    await reloadUnits(signal);
    for (const unit of enabled) await startUnit(unit, signal);
    return done(enabled.join(', '));
  },
};

/** One that waits for another has a job, and one whose condition is not met has been looked at. */
async function isStarted(unit: string, signal: AbortSignal): Promise<boolean> {
  const names = ['ActiveState', 'Job', 'ConditionTimestampMonotonic'] as const;
  const found = await unitProperties(unit, names, signal);
  const hasBegun = [found.Job, found.ConditionTimestampMonotonic].some(
    (value) => (value ?? '0') !== '0' && value !== '',
  );
  return found.ActiveState !== 'inactive' || hasBegun;
}
