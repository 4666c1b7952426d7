import type { Failure } from '../errors/failure.ts';
import type { Progress } from './progress.ts';

/** How a step's `run` ended. What it cannot do it throws, best as a Failure. */
export type Outcome =
  | { readonly kind: 'done'; readonly note?: string }
  /** What it needs does not exist yet; the runner asks again until the deadline. */
  | { readonly kind: 'not-yet'; readonly reason: string }
  /** The host must restart before the plan can go on. */
  | { readonly kind: 'reboot'; readonly reason: string };

export const done = (note?: string): Outcome =>
  note === undefined ? { kind: 'done' } : { kind: 'done', note };
export const notYet = (reason: string): Outcome => ({ kind: 'not-yet', reason });
export const reboot = (reason: string): Outcome => ({ kind: 'reboot', reason });

/**
 * One named piece of a plan. Everything that it does must be safe to do again:
 * the process may be killed at any instant and `run` called again.
 */
export interface Step<Context> {
  /** Lower case with dashes; unique in its plan; seen in journals, records and messages. */
  readonly name: string;
  /** What the host has when the step is done, for `plan`. */
  readonly leaves: string;
  /** How long all attempts together may take, restarts of the agent included. */
  readonly deadlineMs: number;
  /** Where asking again can help: the pause between two attempts. Without it a retryable failure ends the run. */
  readonly retry?: { readonly delayMs: number };
  /**
   * A later step that uses up what this one leaves (the snapshot ends the need for
   * a running etcd): once that one is done, this one is not looked at again.
   */
  readonly neededUntil?: string;
  /** The step removes the agent's own state, so that its end is not written into the journal. */
  readonly removesState?: true;
  /** What the result depends on, as JSON data without secrets; when it changes, the step runs again. */
  input(context: Context): unknown;
  /** The postcondition, read again from the host. Throws nothing for "not there". */
  holds(context: Context, progress: Progress): Promise<boolean>;
  run(context: Context, progress: Progress): Promise<Outcome>;
}

/** A step begins, or failed permanently. */
export interface PlanEvent {
  readonly step: string;
  readonly failure?: Failure;
}

export interface Plan<Context> {
  /** The agent's name: its folder under the state directory, its lock, its records. */
  readonly agent: string;
  /** Name of the systemd unit that runs it, without `.service`; names the service record. */
  readonly unit: string;
  /** One line for `plan`. */
  readonly purpose: string;
  /** What is said when all steps are done. */
  readonly achieved?: string;
  readonly steps: readonly Step<Context>[];
  /** Tells others where the plan stands. Bounds its own time; must not throw. */
  readonly announce?: (context: Context, event: PlanEvent, signal: AbortSignal) => Promise<void>;
}
