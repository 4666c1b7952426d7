import type { EventLog } from '../../base/log/agent-log.ts';
import type { Logger } from '../../base/log/logger.ts';
import type { BootMoment } from '../../host/boot-moment.ts';
import { endedBy } from './deadline-timer.ts';
import type { Journal } from './journal.ts';
import type { ProcessorTime } from './processor-time.ts';
import { Progress } from './progress.ts';
import type { Reporter } from './reporter.ts';
import type { Plan } from './step.ts';
import type { StepEvents } from './step-events.ts';

/** Longer than the longest cleanup of a step, an unmount. */
const GRACE_MS = 60_000;

export interface RunnerParts {
  readonly journal: Journal;
  readonly log: Logger;
  readonly events: EventLog;
  readonly reporter: Reporter;
  /** The clock that deadlines are based on. */
  readonly clock: () => Promise<BootMoment>;
  /** Fires when the agent is told to stop. */
  readonly stop: AbortSignal;
  /** How long a step may continue after its signal fired, to clean up, before it is abandoned. */
  readonly graceMs?: number;
}

/** What the steps of a running plan share. */
export interface PlanScope<Context> {
  readonly plan: Plan<Context>;
  readonly context: Context;
  readonly parts: RunnerParts;
  readonly events: StepEvents;
  readonly cpu: ProcessorTime;
}

/** What a step receives for the time until `deadline` fires, in `leftMs`. */
export function progressOf<Context>(
  { parts: { log, reporter, stop }, events }: PlanScope<Context>,
  step: string,
  leftMs: number,
  deadline: AbortSignal,
): Progress {
  const signal = AbortSignal.any([stop, deadline]);
  const endsAt = performance.now() + leftMs;
  const waiting = (description: string | undefined) => {
    if (reporter.waiting(description) && description !== undefined) {
      // Not awaited: later lines are written after it anyway.
      void events.waiting(step, description, endsAt - performance.now());
    }
    return false;
  };
  return new Progress(signal, endsAt, log.child({ step }), { waiting });
}

/** The result of a step's work, or a failure if it continues long after its signal fired. */
export function untilSignal<Context, T>(
  { parts }: PlanScope<Context>,
  { signal }: Progress,
  work: Promise<T>,
): Promise<T> {
  return endedBy(signal, parts.graceMs ?? GRACE_MS, work);
}
