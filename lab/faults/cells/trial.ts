import { join } from 'node:path';
import { trialPlan } from '../../../agents/upkeep/trial/plan.ts';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { sha256OfFile } from '../../../lib/host/files.ts';
import { defaultSettings } from '../../../lib/host/settings.ts';
import { AllInOne } from '../../all-in-one.ts';
import type { State } from '../../bundle/states.ts';
import { eventually } from '../../eventually.ts';
import { hostTime } from '../../host/on-host.ts';
import { waitForStep } from '../../host/wait-for-step.ts';
import type { Installation } from '../../installation.ts';
import { payload } from '../../payload.ts';
import { bootAgain, nextBoot } from './faults.ts';
import { type PlanUnderTest, request, textOn } from './plan.ts';
import { createUpdate, EXECUTABLE } from './update.ts';

const RESTART_MS = 90_000;
const TRIAL = '/var/lib/sno-agents/sno-trial/trial.json';

const isGoingBack = async (run: AllInOne): Promise<boolean> => {
  const text = await textOn(run.booted, TRIAL);
  return text === '' || text.includes('"reverting"');
};

/** As a person does to whom the update does not look right. Until the host is off, unless its agent is killed. */
async function takeBack(run: AllInOne): Promise<void> {
  const { signal } = run.context;
  const { booted } = run;
  const revert = ['sno-trial', 'revert'];
  const { exitCode, stderr } = await booted
    .exec(revert, { timeoutMs: RESTART_MS }, signal)
    // The host ends while it runs.
    .catch(() => ({ exitCode: 0, stderr: '' }));
  if (!(await isGoingBack(run))) {
    throw new Failure('fatal', 'the trial was not taken back', { found: `${exitCode}: ${stderr}` });
  }
}

/** Until the host, which restarts by itself, can be booted again. */
export async function untilOff(run: Installation): Promise<void> {
  const { booted } = run;
  const isOff = async () => {
    if (!(await booted.hasEnded())) throw new Error('the host does not restart');
  };
  await eventually(isOff, RESTART_MS, run.context.signal);
  await booted.stop();
}

/** The power fails at the restart that takes the change back, in this step. */
export const cutWhileGoingBack =
  (step: string): State =>
  async (run, signal, look) => {
    if (!(run instanceof AllInOne)) throw new Error('no all-in-one host');
    const since = await hostTime(run.booted, signal);
    await takeBack(run);
    await untilOff(run);
    await run.bootUntilPowerCut(nextBoot(run), async (host) => {
      await waitForStep(host, 'sno-trial', [step, 'started'], signal, since);
    });
    await bootAgain(run);
    await look();
  };

/** An update of the executable is on trial, and settles; it is taken back. */
export const trial: PlanUnderTest = {
  agent: 'sno-trial',
  steps: trialPlan(defaultSettings).steps,
  // The update must not be confirmed before.
  settings: { updateWindowMs: 600_000, retryMs: 500 },
  succeedsWith: 'trial-reverted',
  async prepare(run) {
    const { signal } = run.context;
    const executable = () => sha256OfFile(join(run.booted.rootDir, EXECUTABLE), signal);
    const before = await executable();
    const { url } = await createUpdate(run, payload);
    const since = await hostTime(run.booted, signal);
    const update = ['sno-update', 'run', '--from', url, '--no-wait'];
    await request(run.booted, 'sno-update', update, signal);
    await waitForStep(run.booted, 'sno-update', ['settle', 'started'], signal, since);
    return {
      start: async () => {
        if (!(await isGoingBack(run))) await takeBack(run);
      },
      proof: async () => {
        const found = await executable();
        if (found === before) return;
        throw new Failure('fatal', 'the executable was not put back', { expected: before, found });
      },
    };
  },
};
