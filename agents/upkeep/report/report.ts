import { setTimeout as sleep } from 'node:timers/promises';
import { describeError } from '../../../lib/base/errors/failure.ts';
import type { Progress } from '../../../lib/engine/steps/progress.ts';
import { done, type Outcome } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { leftOf, pauseAfter } from '../../steps/pauses.ts';
import { collect } from './collect.ts';
import { presentProxy, presentTarget, type ReportContext } from './context.ts';
import { type Sent, sendNewest } from './send-newest.ts';
import { isWorking, readStatuses } from './statuses.ts';

/** One attempt, with all that a slow line takes. */
const ATTEMPT_MS = 45_000;
/** While nobody answers. */
const PAUSES = { longestMs: 120_000, marginMs: 10_000 };

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
      { signal: progress.signal, deadlineMs: Math.min(ATTEMPT_MS, leftOf(progress, PAUSES)) },
    );
    say(progress, sent, last);
    last = sent;
    failed = sent.kind === 'unanswered' ? failed + 1 : 0;
    if (failed === 0) {
      // Once more behind the last one: a path unit sees nothing while its service runs.
      if (isSettled && sent.kind !== 'accepted') return done(noteOf(sent));
      isSettled = !(await isWorking(paths, statuses));
    }
    const pause = failed > 0 ? pauseAfter(failed, PAUSES) : settings.reportPauseMs;
    if (leftOf(progress, PAUSES) < pause) return done(noteOf(sent));
    const why = failed > 0 ? 'an answer to the report' : 'news to report';
    await progress.wait(why, () => sleep(pause, undefined, { signal: progress.signal }));
  }
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
