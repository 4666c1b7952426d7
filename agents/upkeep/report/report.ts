import { setTimeout as sleep } from 'node:timers/promises';
import { describeError } from '../../../lib/base/errors/failure.ts';
import type { Progress } from '../../../lib/engine/steps/progress.ts';
import { done, type Outcome } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { collect } from './collect.ts';
import { presentProxy, presentTarget, type ReportContext } from './context.ts';
import { type Sent, sendNewest } from './send-newest.ts';
import { isWorking, readStatuses } from './statuses.ts';

/** What is left of the step's time when the body ends by itself. */
const MARGIN_MS = 10_000;
/** One attempt, with all that a slow line takes. */
const ATTEMPT_MS = 45_000;
/** Between attempts while nobody answers: doubled from the first to the last, each with jitter. */
const FIRST_PAUSE_MS = 5000;
const LONGEST_PAUSE_MS = 120_000;

/**
 * Sends the newest report, and another one whenever something has changed, for as long as an agent is working: at most one in
 * each pause. It never fails for whoever is to read it: what was not sent is collected anew by the next run.
 */
export const report: StepBody<ReportContext> = {
  name: 'report',
  leaves: 'a report of this node where report-to.json says, or the note why it is not there',
  touches: ['disk', 'clock', 'network'],
  input: ({ run }) => run,
  holds: async () => true,
  async run(context, progress) {
    try {
      return await follow(context, progress);
    } catch (error) {
      progress.signal.throwIfAborted();
      progress.warn(`The report was not sent: ${describeError(error)}`);
      return done('it is tried again by the timer');
    }
  },
};

async function follow(context: ReportContext, progress: Progress): Promise<Outcome> {
  const { paths, settings } = context;
  let failed = 0;
  let isSettled = false;
  let last: Sent | undefined;
  for (;;) {
    if ((await presentTarget(paths)) !== context.target) {
      return done('another report-to.json is there: the next run reads it');
    }
    const statuses = await readStatuses(paths);
    const sent = await sendNewest(
      { ...context, proxy: await presentProxy(paths) },
      await collect(paths, statuses),
      { signal: progress.signal, deadlineMs: Math.min(ATTEMPT_MS, leftOf(progress)) },
    );
    say(progress, sent, last);
    last = sent;
    failed = sent.kind === 'unanswered' ? failed + 1 : 0;
    if (failed === 0) {
      // Once more behind the last one: a path unit sees nothing while its service runs.
      if (isSettled && sent.kind !== 'accepted') return done(noteOf(sent));
      isSettled = !(await isWorking(paths, statuses));
    }
    const pause = failed > 0 ? backOff(failed) : settings.reportPauseMs;
    if (leftOf(progress) < pause) return done(noteOf(sent));
    const why = failed > 0 ? 'an answer to the report' : 'news to report';
    await progress.wait(why, () => sleep(pause, undefined, { signal: progress.signal }));
  }
}

const leftOf = (progress: Progress): number => Math.max(1, progress.remainingMs() - MARGIN_MS);

/** Half of it is random: not every node of a fleet asks a hub at once that is up again. */
function backOff(failed: number): number {
  const longest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failed - 1));
  return longest * (0.5 + Math.random() / 2);
}

/** What lasts is said once for each run. */
function say(progress: Progress, sent: Sent, last: Sent | undefined): void {
  if (sent.kind === 'accepted') progress.say('The report was accepted');
  if (sent.kind === 'refused') progress.warn(`The report was refused: ${sent.why}`);
  if (sent.kind === 'waiting' && last === undefined) {
    progress.say(`The report was refused before, and waits for the timer: ${sent.why}`);
  }
  if (sent.kind === 'unanswered' && (last?.kind !== 'unanswered' || last.why !== sent.why)) {
    progress.warn(`The report was not sent, and is tried again: ${sent.why}`);
  }
}

function noteOf(sent: Sent): string {
  switch (sent.kind) {
    case 'accepted':
    case 'known':
      return 'it is known';
    case 'refused':
    case 'waiting':
      return 'it was refused, and is kept: the timer tries it again';
    case 'unanswered':
      return 'no answer, and it is kept: the timer tries it again';
  }
}
