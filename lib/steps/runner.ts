import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../log/logger.ts';
import { type BootMoment, consumedMs, currentAttempts, recordedDone } from './deadline.ts';
import { describeError, Failure } from './failure.ts';
import { fingerprint } from './fingerprint.ts';
import type { Journal, JournalEntry } from './journal.ts';
import { Progress } from './progress.ts';
import type { Reporter } from './reporter.ts';
import type { Outcome, Plan, Step } from './step.ts';

export interface RunnerParts {
  readonly journal: Journal;
  readonly log: Logger;
  readonly reporter: Reporter;
  /** The clock that deadlines are counted by. */
  readonly clock: () => Promise<BootMoment>;
  /** Fires when the agent is told to stop. */
  readonly stop: AbortSignal;
}

export interface RunRange {
  /** Begin here, and run this step whatever the journal says; the steps before are not looked at. */
  readonly from?: string;
  /** Stop after this step. */
  readonly until?: string;
}

export type PlanResult =
  | { readonly kind: 'done' }
  | { readonly kind: 'reboot'; readonly reason: string };

/**
 * Runs a plan in order. A step that the journal has as done for the same input,
 * and whose postcondition holds on the host, is passed over; all others run, each
 * within its deadline. Only this class says that steps begin, end and fail.
 */
export class PlanRunner<Context> {
  readonly #plan: Plan<Context>;
  readonly #context: Context;
  readonly #parts: RunnerParts;

  constructor(plan: Plan<Context>, context: Context, parts: RunnerParts) {
    this.#plan = plan;
    this.#context = context;
    this.#parts = parts;
  }

  /** Throws a Failure whose message begins with the step's name. */
  async run(range: RunRange = {}): Promise<PlanResult> {
    for (const step of stepsInRange(this.#plan, range)) {
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
        this.#parts.log.info({ step: step.name }, `${step.name}: already done, and it holds`);
        return { kind: 'done' };
      }
      return await this.#attempts(step, input);
    } catch (error) {
      throw named(step.name, error);
    }
  }

  async #isDone(step: Step<Context>, input: string): Promise<boolean> {
    const { journal, stop } = this.#parts;
    if (step.neededUntil !== undefined && (await this.#laterStepIsDone(step.neededUntil)))
      return true;
    if (!recordedDone(journal.entries, step.name, input)) return false;
    return step.holds(this.#context, this.#progress(step, step.deadlineMs, stop));
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

  /** Tries until the step is done, fails for good or meets its deadline. */
  async #attempts(step: Step<Context>, input: string): Promise<PlanResult> {
    const { journal, log, reporter, stop, clock } = this.#parts;
    for (;;) {
      const before = await clock();
      const leftMs = step.deadlineMs - consumedMs(journal.entries, step.name, input, before);
      const attempt = 1 + countAttempts(journal.entries, step.name, input);
      const record = (event: JournalEntry['event'], more: Partial<JournalEntry> = {}) =>
        this.#record({ step: step.name, input, attempt, event, ...more });

      await record('started');
      await reporter.attemptBegins(step.name, attempt, leftMs);
      log.info({ step: step.name, attempt, deadline: seconds(leftMs) }, `${step.name}: started`);
      const ended = await this.#attempt(step, leftMs);
      stop.throwIfAborted();

      if (ended.outcome?.kind === 'done') {
        const { note } = ended.outcome;
        await record('done', { ...ended.times, ...(note === undefined ? {} : { note }) });
        await reporter.stepEnds(step.name);
        log.info(
          { step: step.name, seconds: ended.times.seconds },
          note === undefined ? `${step.name}: done` : `${step.name}: done, ${note}`,
        );
        return { kind: 'done' };
      }
      if (ended.outcome?.kind === 'reboot') {
        await record('reboot', { reason: ended.outcome.reason });
        await reporter.stepEnds(step.name);
        return ended.outcome;
      }

      const failure = failureOf(ended.outcome, ended.error);
      const reason = describeError(failure);
      const mayRetry = failure.kind === 'retry' && step.retry !== undefined;
      if (!mayRetry) {
        // A retryable failure is not final: systemd starts the agent again, on the same deadline.
        await record(failure.kind === 'retry' ? 'attempt-failed' : 'failed', {
          failure: failure.kind,
          reason,
        });
        await reporter.stepEnds(step.name, reason);
        throw failure;
      }
      await record('attempt-failed', { failure: failure.kind, reason });
      log.info({ step: step.name, attempt }, `${step.name}: not yet: ${reason}`);
      await sleep(Math.min(step.retry.delayMs, Math.max(0, leftMs)), undefined, { signal: stop });
    }
  }

  async #attempt(step: Step<Context>, leftMs: number) {
    const began = performance.now();
    const cpuBefore = process.cpuUsage();
    const deadline = AbortSignal.timeout(Math.max(1, Math.round(leftMs)));
    const progress = this.#progress(step, leftMs, AbortSignal.any([this.#parts.stop, deadline]));
    let outcome: Outcome | undefined;
    let error: unknown;
    try {
      outcome = leftMs <= 0 ? undefined : await step.run(this.#context, progress);
      if (outcome?.kind === 'done' && !(await step.holds(this.#context, progress))) {
        outcome = { kind: 'not-yet', reason: 'it ran, but what it should leave is not there' };
      }
    } catch (thrown) {
      error = thrown;
    }
    if (outcome?.kind !== 'done' && (deadline.aborted || leftMs <= 0)) {
      error = deadlineFailure(step, progress, outcome, error);
      outcome = undefined;
    }
    const cpu = process.cpuUsage(cpuBefore);
    const times = {
      seconds: round((performance.now() - began) / 1000),
      waited: round(progress.waitedMs / 1000),
      cpu: round((cpu.user + cpu.system) / 1e6),
    };
    return { outcome, error, times };
  }

  #progress(step: Step<Context>, leftMs: number, signal: AbortSignal): Progress {
    const { log, reporter } = this.#parts;
    const child = log.child({ step: step.name });
    return new Progress(signal, performance.now() + leftMs, child, reporter);
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

function failureOf(outcome: Outcome | undefined, error: unknown): Failure {
  if (error instanceof Failure) return error;
  if (error !== undefined) return new Failure('retry', describeError(error), { cause: error });
  if (outcome?.kind === 'failed') {
    return new Failure(
      'fatal',
      outcome.reason,
      outcome.fix === undefined ? {} : { fix: outcome.fix },
    );
  }
  return new Failure('retry', outcome?.kind === 'not-yet' ? outcome.reason : 'it did not end');
}

function deadlineFailure<Context>(
  step: Step<Context>,
  progress: Progress,
  outcome: Outcome | undefined,
  error: unknown,
): Failure {
  const last = outcome?.kind === 'not-yet' ? outcome.reason : progress.lastWait;
  const fatal = error instanceof Failure && (error.kind === 'fatal' || error.kind === 'usage');
  if (fatal) return error;
  return new Failure('deadline', `the deadline of ${seconds(step.deadlineMs)} is over`, {
    expected: step.leaves,
    ...(last === undefined ? {} : { found: `still waiting for ${last}` }),
    ...(error === undefined ? {} : { cause: error }),
  });
}

function named(step: string, error: unknown): unknown {
  if (!(error instanceof Failure)) return error;
  return new Failure(error.kind, `${step}: ${error.message}`, { cause: error.cause });
}

const seconds = (ms: number) => `${Math.round(ms / 1000)}s`;
const round = (value: number) => Math.round(value * 1000) / 1000;
