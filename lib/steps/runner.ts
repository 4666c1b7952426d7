import { setTimeout as sleep } from 'node:timers/promises';
import { describeError, Failure } from '../errors/failure.ts';
import { type FailureData, failureData, stackOf } from '../errors/failure-data.ts';
import type { EventLog } from '../log/agent-log.ts';
import type { Logger } from '../log/logger.ts';
import { type BootMoment, consumedMs, currentAttempts, recordedDone } from './deadline.ts';
import { deadlineTimer, endedBy } from './deadline-timer.ts';
import { fingerprint } from './fingerprint.ts';
import type { Journal, JournalEntry } from './journal.ts';
import { Progress, type WaitingListener } from './progress.ts';
import type { Reporter } from './reporter.ts';
import type { Outcome, Plan, Step } from './step.ts';
import { StepEvents } from './step-events.ts';
import { BUG_ATTEMPTS, deadlineFailure, failureOf, lastSeen, named } from './step-failure.ts';

/** Longer than the longest clean-up of a step, an unmount. */
const GRACE_MS = 60_000;

export interface RunnerParts {
  readonly journal: Journal;
  readonly log: Logger;
  readonly events: EventLog;
  readonly reporter: Reporter;
  /** The clock that deadlines are counted by. */
  readonly clock: () => Promise<BootMoment>;
  /** Fires when the agent is told to stop. */
  readonly stop: AbortSignal;
  /** How long a step may go on after its signal fired, to clean up, before it is left alone. */
  readonly graceMs?: number;
}

export interface RunRange {
  /** Begin here, and run this step regardless of the journal; the steps before it are not examined. */
  readonly from?: string;
  /** Stop after this step. */
  readonly until?: string;
}

export type PlanResult =
  | { readonly kind: 'done' }
  | { readonly kind: 'reboot'; readonly reason: string };

/**
 * Runs a plan in order. A step that the journal has as done for the same input,
 * and whose postcondition holds on the host, is skipped; all others run, each
 * within its deadline. Only this class says that steps begin, end and fail.
 */
export class PlanRunner<Context> {
  readonly #plan: Plan<Context>;
  readonly #context: Context;
  readonly #parts: RunnerParts;
  readonly #events: StepEvents;
  /** Processor time that was put down to a step; the first one gets the start of the process. */
  #cpuCounted: NodeJS.CpuUsage = { user: 0, system: 0 };

  constructor(plan: Plan<Context>, context: Context, parts: RunnerParts) {
    this.#plan = plan;
    this.#context = context;
    this.#parts = parts;
    this.#events = new StepEvents(
      parts.events,
      plan.steps.map(({ name }) => name),
    );
  }

  /** Throws a Failure whose message begins with the step's name. */
  async run(range: RunRange = {}): Promise<PlanResult> {
    for (const step of stepsInRange(this.#plan, range)) {
      this.#parts.stop.throwIfAborted();
      const outcome = await this.#runUnlessDone(step, step.name === range.from);
      if (outcome.kind === 'reboot') return outcome;
    }
    return { kind: 'done' };
  }

  async #runUnlessDone(step: Step<Context>, forced: boolean): Promise<PlanResult> {
    const number = this.#plan.steps.indexOf(step) + 1;
    this.#parts.reporter.stepBegins(step.name, number, this.#plan.steps.length, step.deadlineMs);
    try {
      const input = fingerprint(await step.input(this.#context));
      if (!forced && (await this.#isDone(step, input))) {
        await this.#events.alreadyDone(step.name);
        return { kind: 'done' };
      }
      return await this.#attempts(step, input);
    } catch (error) {
      throw this.#parts.stop.aborted ? error : named(step.name, error);
    }
  }

  async #isDone(step: Step<Context>, input: string): Promise<boolean> {
    if (step.neededUntil !== undefined && (await this.#laterStepIsDone(step.neededUntil)))
      return true;
    if (!recordedDone(this.#parts.journal.entries, step.name, input)) return false;
    using timer = deadlineTimer(step.deadlineMs);
    const progress = this.#progress(step, step.deadlineMs, timer.signal);
    try {
      return await this.#untilSignal(progress, step.holds(this.#context, progress));
    } catch (error) {
      if (this.#parts.stop.aborted) throw error;
      // What cannot be read cannot be said to hold: the step runs, and its deadline counts.
      progress.warn(`${step.name}: cannot tell whether it holds: ${describeError(error)}`);
      return false;
    }
  }

  async #laterStepIsDone(name: string): Promise<boolean> {
    const later = this.#plan.steps.find((step) => step.name === name);
    if (later === undefined) throw new Failure('fatal', `the plan has no step ${name}`);
    if (
      !this.#parts.journal.entries.some((entry) => entry.step === name && entry.event === 'done')
    ) {
      return false;
    }
    return this.#isDone(later, fingerprint(await later.input(this.#context)));
  }

  /** Tries until the step is done, fails permanently or exceeds its deadline. */
  async #attempts(step: Step<Context>, input: string): Promise<PlanResult> {
    const { journal, reporter, stop, clock } = this.#parts;
    for (let lastReason: string | undefined; ; ) {
      const before = await clock();
      const leftMs = step.deadlineMs - consumedMs(journal.entries, step.name, input, before);
      const attempt = 1 + countAttempts(journal.entries, step.name, input);
      const record = (event: JournalEntry['event'], more: Partial<JournalEntry> = {}) =>
        this.#record({ step: step.name, input, attempt, event, ...more });
      const endIfStopped = async () => {
        if (stop.aborted) await record('stopped');
        stop.throwIfAborted();
      };

      await record('started');
      await reporter.attemptBegins(step.name, attempt, leftMs);
      if (lastReason === undefined) {
        await this.#events.started(step.name, attempt, leftMs);
        await this.#plan.announce?.(this.#context, { step: step.name }, stop);
      }
      const ended = await this.#attempt(step, input, leftMs);
      if (ended.outcome?.kind !== 'done') await endIfStopped();

      if (ended.outcome?.kind === 'done') {
        const { note } = ended.outcome;
        if (step.removesState !== true) {
          await record('done', { ...ended.times, ...(note === undefined ? {} : { note }) });
        }
        await reporter.stepEnds(step.name);
        await this.#events.done(step.name, { ...ended.times, note });
        return { kind: 'done' };
      }
      if (ended.outcome?.kind === 'reboot') {
        await record('reboot', { reason: ended.outcome.reason });
        await reporter.stepEnds(step.name);
        return ended.outcome;
      }

      const failure = failureOf(ended.outcome, ended.error);
      const data = failureData(failure);
      this.#logStack(step, failure);
      const isOpen = failure.kind === 'retry' || (failure.kind === 'bug' && attempt < BUG_ATTEMPTS);
      if (!isOpen || step.retry === undefined) {
        // A retryable failure is not final: systemd starts the agent again, on the same deadline.
        await record(failure.kind === 'retry' ? 'attempt-failed' : 'failed', { failure: data });
        await reporter.stepEnds(step.name, failure);
        await this.#events.failed(step.name, attempt, failure);
        if (failure.kind !== 'retry') {
          await this.#plan.announce?.(this.#context, { step: step.name, failure }, stop);
        }
        throw failure;
      }
      await record('attempt-failed', { failure: data });
      const reason = describeError(failure);
      if (reason !== lastReason) await this.#events.retried(step.name, attempt, failure);
      lastReason = reason;
      const pauseMs = Math.min(step.retry.delayMs, ended.leftMs);
      await sleep(pauseMs, undefined, { signal: stop }).catch(endIfStopped);
    }
  }

  async #attempt(step: Step<Context>, input: string, leftMs: number) {
    const began = performance.now();
    using timer = deadlineTimer(leftMs);
    const progress = this.#progress(step, leftMs, timer.signal);
    let outcome: Outcome | undefined;
    let error: unknown;
    try {
      if (leftMs > 0) outcome = await this.#untilSignal(progress, this.#runAndLook(step, progress));
    } catch (thrown) {
      error = thrown;
    }
    const isOpen = outcome === undefined || outcome.kind === 'not-yet';
    if (isOpen && (timer.signal.aborted || leftMs <= 0)) {
      const seen = lastSeen(outcome, progress);
      const before = this.#lastFailure(step.name, input);
      error = deadlineFailure(
        step,
        { seen, before },
        error === timer.signal.reason ? undefined : error,
      );
      outcome = undefined;
    }
    const cpu = process.cpuUsage(this.#cpuCounted);
    this.#cpuCounted = process.cpuUsage();
    const times = {
      seconds: round((performance.now() - began) / 1000),
      waited: round(progress.waitedMs / 1000),
      cpu: round((cpu.user + cpu.system) / 1e6),
    };
    return { outcome, error, times, leftMs: progress.remainingMs() };
  }

  async #runAndLook(step: Step<Context>, progress: Progress): Promise<Outcome> {
    const outcome = await step.run(this.#context, progress);
    if (outcome.kind !== 'done' || (await step.holds(this.#context, progress))) return outcome;
    throw new Failure('retry', 'postcondition not met', {
      code: 'postcondition',
      expected: step.leaves,
    });
  }

  #untilSignal<T>(progress: Progress, work: Promise<T>): Promise<T> {
    return endedBy(progress.signal, this.#parts.graceMs ?? GRACE_MS, work);
  }

  #progress(step: Step<Context>, leftMs: number, deadline: AbortSignal): Progress {
    const { log, reporter, stop } = this.#parts;
    const signal = AbortSignal.any([stop, deadline]);
    const endsAt = performance.now() + leftMs;
    const listener: WaitingListener = {
      waiting: (description) => {
        if (!reporter.waiting(description) || description === undefined) return false;
        // Not waited for: lines that follow are written after it.
        void this.#events.waiting(step.name, description, endsAt - performance.now());
        return false;
      },
    };
    return new Progress(signal, endsAt, log.child({ step: step.name }), listener);
  }

  /** How the last attempt failed, which may have been in a process before this one. */
  #lastFailure(step: string, input: string): FailureData | undefined {
    return currentAttempts(this.#parts.journal.entries, step, input).findLast(
      ({ event }) => event === 'attempt-failed',
    )?.failure;
  }

  /** The stack of an unexpected error, at debug priority. */
  #logStack(step: Step<Context>, failure: Failure): void {
    const isWorded = failure.kind !== 'bug' && failure.code !== 'error';
    const stack = isWorded ? undefined : stackOf(failure);
    if (stack !== undefined) this.#parts.log.debug({ step: step.name }, stack);
  }

  async #record(entry: Omit<JournalEntry, 'at' | 'boot' | 'up'>): Promise<void> {
    await this.#parts.journal.append({
      at: new Date().toISOString(),
      ...(await this.#parts.clock()),
      ...entry,
    });
  }
}

function stepsInRange<Context>(plan: Plan<Context>, { from, until }: RunRange) {
  const position = (name: string) => {
    const index = plan.steps.findIndex((step) => step.name === name);
    if (index >= 0) return index;
    const known = plan.steps.map((step) => step.name).join(', ');
    throw new Failure('usage', `${plan.agent} has no step ${name}`, {
      expected: `one of ${known}`,
    });
  };
  const first = from === undefined ? 0 : position(from);
  const last = until === undefined ? plan.steps.length - 1 : position(until);
  if (first > last) throw new Failure('usage', `step ${from} comes after step ${until}`);
  return plan.steps.slice(first, last + 1);
}

function countAttempts(entries: readonly JournalEntry[], step: string, input: string): number {
  return currentAttempts(entries, step, input).filter((entry) => entry.event === 'started').length;
}

const round = (value: number) => Math.round(value * 1000) / 1000;
