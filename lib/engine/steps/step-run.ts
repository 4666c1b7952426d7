import { setTimeout as sleep } from 'node:timers/promises';
import { describeError, Failure } from '../../base/errors/failure.ts';
import { type FailureData, failureData, stackOf } from '../../base/errors/failure-data.ts';
import { consumedMs, currentAttempts } from './deadline.ts';
import { deadlineTimer } from './deadline-timer.ts';
import type { JournalEntry } from './journal.ts';
import type { Progress } from './progress.ts';
import { type PlanScope, progressOf, untilSignal } from './scope.ts';
import type { Outcome, Step } from './step.ts';
import type { DoneFacts } from './step-events.ts';
import { BUG_ATTEMPTS, deadlineFailure, failureOf, lastSeen } from './step-failure.ts';

/** How a step that did not fail ended. */
export type StepEnd = Exclude<Outcome, { kind: 'not-yet' }>;

/** One attempt: its number since the step last ended, and the rest of the deadline. */
interface Attempt {
  readonly number: number;
  readonly leftMs: number;
}

interface AttemptEnd {
  readonly outcome: Outcome | undefined;
  readonly error: unknown;
  readonly times: Omit<DoneFacts, 'note'>;
  /** Until the deadline. */
  readonly leftMs: number;
}

/** The attempts at one step of a running plan. */
export class StepRun<Context> {
  readonly #scope: PlanScope<Context>;
  readonly #step: Step<Context>;
  readonly #input: string;

  /** `input` is the fingerprint of the step's input. */
  constructor(scope: PlanScope<Context>, step: Step<Context>, input: string) {
    this.#scope = scope;
    this.#step = step;
    this.#input = input;
  }

  /** Retries until the step is done, fails permanently or exceeds its deadline. */
  async toEnd(): Promise<StepEnd> {
    let lastReason: string | undefined;
    for (;;) {
      const attempt = await this.#begin(lastReason === undefined);
      const ended = await this.#try(attempt);
      const { outcome } = ended;
      if (outcome?.kind === 'done') return await this.#done(attempt, outcome, ended.times);
      await this.#endIfStopped(attempt);
      if (outcome?.kind === 'reboot') return await this.#reboot(attempt, outcome);
      const failure = failureOf(outcome, ended.error);
      this.#logStack(failure);
      const pauseMs = this.#pauseAfter(attempt, failure);
      if (pauseMs === undefined) return await this.#ended(attempt, failure, ended.times);
      lastReason = await this.#retried(attempt, failure, lastReason);
      await sleep(Math.min(pauseMs, ended.leftMs), undefined, {
        signal: this.#scope.parts.stop,
      }).catch(() => this.#endIfStopped(attempt));
    }
  }

  async #begin(isFirst: boolean): Promise<Attempt> {
    const { parts, plan, context, events } = this.#scope;
    const { name, deadlineMs } = this.#step;
    const { entries } = parts.journal;
    const consumed = consumedMs(entries, name, this.#input, await parts.clock());
    const begun = currentAttempts(entries, name, this.#input);
    const attempt = {
      number: 1 + begun.filter(({ event }) => event === 'started').length,
      leftMs: deadlineMs - consumed,
    };
    await this.#record(attempt, 'started');
    await parts.reporter.attemptBegins(name, attempt.number, attempt.leftMs);
    if (isFirst) {
      await events.started(name, attempt.number, attempt.leftMs);
      await plan.announce?.(context, { step: name }, parts.stop);
    }
    return attempt;
  }

  async #try({ leftMs }: Attempt): Promise<AttemptEnd> {
    const began = performance.now();
    using timer = deadlineTimer(leftMs);
    const progress = progressOf(this.#scope, this.#step.name, leftMs, timer.signal);
    let outcome: Outcome | undefined;
    let error: unknown;
    try {
      if (leftMs > 0)
        outcome = await untilSignal(this.#scope, progress, this.#runAndLook(progress));
    } catch (thrown) {
      error = thrown;
    }
    const isOpen = outcome === undefined || outcome.kind === 'not-yet';
    if (isOpen && (timer.signal.aborted || leftMs <= 0)) {
      const own = error === timer.signal.reason ? undefined : error;
      error = deadlineFailure(this.#step, this.#observed(outcome, progress), own);
      outcome = undefined;
    }
    const times = {
      seconds: thousandths((performance.now() - began) / 1000),
      waited: thousandths(progress.waitedMs / 1000),
      cpu: thousandths(this.#scope.cpu.take() / 1e6),
    };
    return { outcome, error, times, leftMs: progress.remainingMs() };
  }

  async #runAndLook(progress: Progress): Promise<Outcome> {
    const { context } = this.#scope;
    const outcome = await this.#step.run(context, progress);
    if (outcome.kind !== 'done' || (await this.#step.holds(context, progress))) return outcome;
    throw new Failure('retry', 'postcondition not met', {
      code: 'postcondition',
      expected: this.#step.leaves,
    });
  }

  /**
   * The last observation of this attempt, and the previous one's failure, even of
   * an earlier process.
   */
  #observed(outcome: Outcome | undefined, progress: Progress) {
    const attempts = currentAttempts(
      this.#scope.parts.journal.entries,
      this.#step.name,
      this.#input,
    );
    const before: FailureData | undefined = attempts.findLast(
      ({ event }) => event === 'attempt-failed',
    )?.failure;
    return { seen: lastSeen(outcome, progress), before };
  }

  async #done(
    attempt: Attempt,
    outcome: Extract<Outcome, { kind: 'done' }>,
    times: AttemptEnd['times'],
  ): Promise<StepEnd> {
    const { name, removesState } = this.#step;
    const { note } = outcome;
    if (removesState !== true) {
      await this.#record(attempt, 'done', { ...times, ...(note === undefined ? {} : { note }) });
    }
    await this.#scope.parts.reporter.stepEnds(name);
    await this.#scope.events.done(name, { ...times, note });
    return outcome;
  }

  async #reboot(attempt: Attempt, outcome: Extract<Outcome, { kind: 'reboot' }>): Promise<StepEnd> {
    await this.#record(attempt, 'reboot', { reason: outcome.reason });
    await this.#scope.parts.reporter.stepEnds(this.#step.name);
    return outcome;
  }

  /** The pause before the next attempt; undefined if this process makes no other. */
  #pauseAfter({ number }: Attempt, { kind }: Failure): number | undefined {
    const isOpen = kind === 'retry' || (kind === 'bug' && number < BUG_ATTEMPTS);
    return isOpen ? this.#step.retry?.delayMs : undefined;
  }

  /** After a failure that this process does not retry. */
  async #ended(attempt: Attempt, failure: Failure, times: AttemptEnd['times']): Promise<StepEnd> {
    const step = this.#step;
    if (step.instead === undefined || failure.kind === 'retry') {
      throw await this.#failed(attempt, failure);
    }
    const note = await step.instead(this.#scope.context, failure);
    return await this.#done(attempt, { kind: 'done', note }, times);
  }

  async #failed(attempt: Attempt, failure: Failure): Promise<Failure> {
    const { parts, plan, context, events } = this.#scope;
    const { name } = this.#step;
    const isFinal = failure.kind !== 'retry';
    // A retryable failure is not final: systemd restarts the agent, on the same deadline.
    const event = isFinal ? 'failed' : 'attempt-failed';
    await this.#record(attempt, event, { failure: failureData(failure) });
    await parts.reporter.stepEnds(name, failure);
    await events.failed(name, attempt.number, failure);
    if (isFinal) await plan.announce?.(context, { step: name, failure }, parts.stop);
    return failure;
  }

  /** Logs why there will be another attempt, once for each reason; returns the reason. */
  async #retried(attempt: Attempt, failure: Failure, lastReason: string | undefined) {
    await this.#record(attempt, 'attempt-failed', { failure: failureData(failure) });
    const reason = describeError(failure);
    const { events } = this.#scope;
    if (reason !== lastReason) await events.retried(this.#step.name, attempt.number, failure);
    return reason;
  }

  async #endIfStopped(attempt: Attempt): Promise<void> {
    const { stop } = this.#scope.parts;
    if (stop.aborted) await this.#record(attempt, 'stopped');
    stop.throwIfAborted();
  }

  /** The stack of an unexpected error, at debug priority. */
  #logStack(failure: Failure): void {
    const isWorded = failure.kind !== 'bug' && failure.code !== 'error';
    const stack = isWorded ? undefined : stackOf(failure);
    if (stack !== undefined) this.#scope.parts.log.debug({ step: this.#step.name }, stack);
  }

  async #record(
    attempt: Attempt,
    event: JournalEntry['event'],
    more: Partial<JournalEntry> = {},
  ): Promise<void> {
    const { journal, clock } = this.#scope.parts;
    await journal.append({
      at: new Date().toISOString(),
      ...(await clock()),
      step: this.#step.name,
      input: this.#input,
      attempt: attempt.number,
      event,
      ...more,
    });
  }
}

const thousandths = (value: number) => Math.round(value * 1000) / 1000;
