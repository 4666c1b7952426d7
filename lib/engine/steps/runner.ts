import { describeError, Failure } from '../../base/errors/failure.ts';
import { recordedDone } from './deadline.ts';
import { deadlineTimer } from './deadline-timer.ts';
import { fingerprint } from './fingerprint.ts';
import { ProcessorTime } from './processor-time.ts';
import { type PlanScope, progressOf, type RunnerParts, untilSignal } from './scope.ts';
import type { Plan, Step } from './step.ts';
import { StepEvents } from './step-events.ts';
import { named } from './step-failure.ts';
import { StepRun } from './step-run.ts';

export interface RunRange {
  /** Start at this step and run it regardless of the journal; earlier steps are not examined. */
  readonly from?: string;
  /** Stop after this step. */
  readonly until?: string;
}

export type PlanResult =
  | { readonly kind: 'done' }
  | { readonly kind: 'reboot'; readonly reason: string };

/**
 * Runs a plan in order. A step is skipped if the journal has it as done for the
 * same input and its postcondition holds on the host; all others run, each within
 * its deadline (step-run.ts).
 */
export class PlanRunner<Context> {
  readonly #plan: Plan<Context>;
  readonly #parts: RunnerParts;
  readonly #scope: PlanScope<Context>;

  constructor(plan: Plan<Context>, context: Context, parts: RunnerParts) {
    const names = plan.steps.map(({ name }) => name);
    const events = new StepEvents(parts.events, names);
    this.#plan = plan;
    this.#parts = parts;
    this.#scope = { plan, context, parts, events, cpu: new ProcessorTime() };
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
      // Before its input, which may have been consumed too.
      if (!forced && (await this.#isConsumed(step))) return await this.#skip(step);
      const input = fingerprint(await step.input(this.#scope.context));
      if (!forced && (await this.#isDone(step, input))) return await this.#skip(step);
      return await new StepRun(this.#scope, step, input).toEnd();
    } catch (error) {
      throw this.#parts.stop.aborted ? error : named(step.name, error);
    }
  }

  async #skip({ name }: Step<Context>): Promise<PlanResult> {
    await this.#scope.events.alreadyDone(name);
    return { kind: 'done' };
  }

  async #isDone(step: Step<Context>, input: string): Promise<boolean> {
    if (!recordedDone(this.#parts.journal.entries, step.name, input)) return false;
    using timer = deadlineTimer(step.deadlineMs);
    const progress = progressOf(this.#scope, step.name, step.deadlineMs, timer.signal);
    try {
      return await untilSignal(this.#scope, progress, step.holds(this.#scope.context, progress));
    } catch (error) {
      if (this.#parts.stop.aborted) throw error;
      // An unreadable postcondition does not count as met: the step runs, on its deadline.
      progress.warn(`${step.name}: its postcondition cannot be checked: ${describeError(error)}`);
      return false;
    }
  }

  /** Whether the step that needs its result is done. */
  async #isConsumed({ neededUntil: name }: Step<Context>): Promise<boolean> {
    if (name === undefined) return false;
    const later = this.#plan.steps.find((step) => step.name === name);
    if (later === undefined) throw new Failure('fatal', `the plan has no step ${name}`);
    // The input of a step that never ran may not exist yet.
    const { entries } = this.#parts.journal;
    if (!entries.some(({ step, event }) => step === name && event === 'done')) return false;
    if (await this.#isConsumed(later)) return true;
    return this.#isDone(later, fingerprint(await later.input(this.#scope.context)));
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
