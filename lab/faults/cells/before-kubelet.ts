import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { certificatesPlan } from '../../../agents/upkeep/certificates/plan.ts';
import { payloadPlan } from '../../../agents/upkeep/payload/plan.ts';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { defaultSettings } from '../../../lib/host/settings.ts';
import { AllInOne } from '../../all-in-one.ts';
import type { State } from '../../bundle/states.ts';
import { age, serialOf } from '../../certificates/age.ts';
import { eventually } from '../../eventually.ts';
import { onHost } from '../../host/on-host.ts';
import { dueLeaf } from './daily.ts';
import { type PlanUnderTest, startUnit, statusOf, unitStates } from './plan.ts';

/** In the order in which they are stopped: each is required by the one before it. */
const STOPPED = ['kubelet.service', 'sno-certificates.service', 'sno-payload.service'];
const KUBELET_MS = 60_000;
/** Of a year's certificate. */
const EXPIRED_DAYS = 400;

/** As at a boot, without one: the kubelet is stopped, and its containers go on. */
async function stopKubelet(run: AllInOne): Promise<void> {
  const { signal } = run.context;
  for (const unit of STOPPED) await onHost(run.booted, ['systemctl', 'stop', unit], signal);
  // The kubelet of the first boot was prepared by aiokube.
  await rm(join(run.booted.rootDir, 'run/sno-agents/kubelet-prepared'), { force: true });
}

const kubeletRuns = (run: AllInOne) => {
  const { signal } = run.context;
  const runs = async () => {
    const [found = ''] = await unitStates(run.booted, 'kubelet', signal);
    if (found === 'active') return;
    throw new Failure('fatal', 'the kubelet was not started', { found });
  };
  return eventually(runs, KUBELET_MS, signal);
};

/** By the kubelet, which requires it. */
const startWithKubelet = async (
  run: AllInOne,
  agent: 'sno-payload' | 'sno-certificates',
): Promise<void> => {
  const { signal } = run.context;
  const before = (await statusOf(run.booted, agent))?.updated;
  await startUnit(run.booted, 'kubelet', signal);
  const begun = async () => {
    if ((await statusOf(run.booted, agent))?.updated !== before) return;
    throw new Failure('fatal', `${agent} was not started with the kubelet`);
  };
  await eventually(begun, KUBELET_MS, signal);
};

/**
 * The disk is full for a while. containerd 1.6 pins no images (docs/operating-systems.md, container
 * runtime): the kubelet deletes what no container uses, such as the image of the sandbox. It is imported again at
 * the next boot; here without one.
 */
export const fullUntilImported =
  (full: State): State =>
  async (run, signal, look) => {
    if (!(run instanceof AllInOne)) throw new Error('no all-in-one host');
    await full(run, signal, look);
    await stopKubelet(run);
    await startWithKubelet(run, 'sno-payload');
    await kubeletRuns(run);
  };

export const payload: PlanUnderTest = {
  agent: 'sno-payload',
  unit: 'kubelet',
  steps: payloadPlan(defaultSettings).steps,
  settings: {},
  async prepare(run) {
    await stopKubelet(run);
    return {
      start: () => startWithKubelet(run, 'sno-payload'),
      proof: () => kubeletRuns(run),
    };
  },
};

export const certificates: PlanUnderTest = {
  agent: 'sno-certificates',
  unit: 'kubelet',
  steps: certificatesPlan(defaultSettings).steps,
  settings: {},
  async prepare(run) {
    await stopKubelet(run);
    await age(run.booted.rootDir, dueLeaf, EXPIRED_DAYS);
    const old = await serialOf(run.booted.rootDir, dueLeaf);
    return {
      start: () => startWithKubelet(run, 'sno-certificates'),
      proof: async () => {
        await kubeletRuns(run);
        if ((await serialOf(run.booted.rootDir, dueLeaf)) !== old) return;
        throw new Failure('fatal', `the expired certificate of ${dueLeaf.name} is in use`);
      },
    };
  },
};
