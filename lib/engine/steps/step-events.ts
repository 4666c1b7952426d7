import { describeError, type Failure } from '../../base/errors/failure.ts';
import { failureData } from '../../base/errors/failure-data.ts';
import type { EventLog } from '../../base/log/agent-log.ts';
import { failureFields } from '../../base/log/failure-fields.ts';
import type { EventFields } from '../../base/log/journal-event.ts';

/** Durations in seconds, to the millisecond; `note` is the step's own remark. */
export interface DoneFacts {
  readonly seconds: number;
  readonly waited: number;
  readonly cpu: number;
  readonly note?: string | undefined;
}

/** Words the events of a plan's steps: one sentence each, and its fields. */
export class StepEvents {
  readonly #events: EventLog;
  readonly #steps: readonly string[];

  constructor(events: EventLog, steps: readonly string[]) {
    this.#events = events;
    this.#steps = steps;
  }

  alreadyDone(step: string): Promise<void> {
    return this.#events.event('step-already-done', `${step}: already done`, this.#of(step));
  }

  started(step: string, attempt: number, leftMs: number): Promise<void> {
    const fields = { attempt, left: Math.round(leftMs / 1000) };
    return this.#events.event('step-started', `${step}: started`, this.#of(step, fields));
  }

  waiting(step: string, waitingFor: string, leftMs: number): Promise<void> {
    const fields = { waitingFor, left: Math.round(leftMs / 1000) };
    return this.#events.event(
      'step-waiting',
      `${step}: waiting for ${waitingFor}`,
      this.#of(step, fields),
    );
  }

  retried(step: string, attempt: number, failure: Failure): Promise<void> {
    const fields = { attempt, ...failureFields(failureData(failure)) };
    const sentence = `${step}: not yet: ${describeError(failure)}`;
    return this.#events.event('step-retry', sentence, this.#of(step, fields));
  }

  done(step: string, { note, ...times }: DoneFacts): Promise<void> {
    const sentence = note === undefined ? `${step}: done` : `${step}: done, ${note}`;
    return this.#events.event('step-done', sentence, this.#of(step, times));
  }

  /** The reason is reported when the agent ends, which follows. */
  failed(step: string, attempt: number, failure: Failure): Promise<void> {
    const fields = { attempt, ...failureFields(failureData(failure)) };
    return this.#events.event('step-failed', `${step}: failed`, this.#of(step, fields));
  }

  #of(step: string, more: EventFields = {}): EventFields {
    return {
      step,
      stepNumber: this.#steps.indexOf(step) + 1,
      steps: this.#steps.length,
      ...more,
    };
  }
}
