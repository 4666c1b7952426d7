import { failureSentence } from '../../../lib/base/errors/failure-data.ts';
import { done, reboot } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { hasCounted, judgeTrial, withBoot } from '../../../lib/engine/trial/judge.ts';
import {
  readTrial,
  readTrialState,
  recordReverting,
  writeTrial,
} from '../../../lib/engine/trial/store.ts';
import type { TrialContext } from './context.ts';

/** Counts this boot, synced: a host that keeps losing power uses up its restarts. */
export const countBoot: StepBody<TrialContext> = {
  name: 'count-boot',
  leaves: 'this boot among those that the trial has seen',
  touches: ['disk'],
  retries: true,
  input: ({ now }) => now.boot,
  async holds({ paths, now }) {
    const trial = await readTrial(paths);
    return trial === undefined || hasCounted(trial, now);
  },
  async run({ paths, now }) {
    const trial = await readTrial(paths);
    if (trial === undefined) return done('nothing is on trial');
    const counted = withBoot(trial, now);
    await writeTrial(paths, counted);
    return done(`restart ${counted.boots.length - 1} of ${trial.what}`);
  },
};

/**
 * Decides whether the change is taken back. On a running host it has the host restarted for that: what a
 * change has left in memory, such as network devices, mounts and processes, ends with the boot.
 */
export const decide: StepBody<TrialContext> = {
  name: 'decide',
  leaves: 'a trial that continues, or the reason why it is taken back',
  touches: ['disk'],
  retries: true,
  input: ({ now }) => now,
  async holds({ paths, now, isFirstRun }) {
    const { kind } = judgeTrial(await readTrialState(paths), now);
    return kind !== 'revert' || (isFirstRun && (await readTrial(paths))?.reverting !== undefined);
  },
  async run({ paths, now, isFirstRun }) {
    const verdict = judgeTrial(await readTrialState(paths), now);
    switch (verdict.kind) {
      case 'none':
        return done('nothing is on trial');
      case 'ended':
        return done('it has ended');
      case 'goes-on': {
        const minutes = Math.ceil(verdict.leftMs / 60_000);
        return done(`to be confirmed within ${minutes} min; restarts left: ${verdict.bootsLeft}`);
      }
      case 'revert': {
        await recordReverting(paths, verdict.reason);
        const why = failureSentence(verdict.reason);
        return isFirstRun ? done(why) : reboot(`taking a change back: ${why}`);
      }
    }
  },
};
