import type { Failure } from '../../base/errors/failure.ts';
import type { Progress } from './progress.ts';
import type { Touched } from './touched.ts';

/** How a step's `run` ended. A failure is thrown, preferably as a Failure. */
export type Outcome =
  | { readonly kind: 'done'; readonly note?: string }
  /** Something that it needs does not exist yet; the runner retries until the deadline. */
  | { readonly kind: 'not-yet'; readonly reason: string }
  /** The host must reboot before the plan can continue. */
  | { readonly kind: 'reboot'; readonly reason: string };

export const done = (note?: string): Outcome =>
  note === undefined ? { kind: 'done' } : { kind: 'done', note };
export const notYet = (reason: string): Outcome => ({ kind: 'not-yet', reason });
export const reboot = (reason: string): Outcome => ({ kind: 'reboot', reason });

/**
 * One named part of a plan. Must be idempotent: the process may be killed at any
 * time and `run` called again.
 */
export interface Step<Context> {
  /** Lower case with dashes; unique in its plan; seen in journals, records and messages. */
  readonly name: string;
  /** The result of the step on the host, for `plan`. */
  readonly leaves: string;
  /** What it uses that can be missing, full, slow or wrong. */
  readonly touches: readonly Touched[];
  /** How long all attempts together may take, across restarts of the agent. */
  readonly deadlineMs: number;
  /**
   * The pause between attempts, if a retry can help. Without it, a retryable
   * failure ends the run.
   */
  readonly retry?: { readonly delayMs: number };
  /**
   * A later step that consumes the result of this one (after the snapshot, etcd
   * need not run): once that step is done, this one is no longer checked.
   */
  readonly neededUntil?: string;
  /** The step deletes the agent's own state, so its end is not written to the journal. */
  readonly removesState?: true;
  /** What the result depends on, as JSON data without secrets; when it changes, the step runs again. */
  input(context: Context): unknown;
  /** Checks the postcondition on the host. "Not found" is false, not an error. */
  holds(context: Context, progress: Progress): Promise<boolean>;
  run(context: Context, progress: Progress): Promise<Outcome>;
  /**
   * Ends the step after a permanent failure, an exceeded deadline included: the plan continues, with
   * the returned note. It must make the postcondition hold. Without it, such a failure ends the run.
   */
  instead?(context: Context, failure: Failure): Promise<string>;
}

/** A step started, or failed permanently. */
export interface PlanEvent {
  readonly step: string;
  readonly failure?: Failure;
}

export interface Plan<Context> {
  /** The agent's name, also of its folder under the state directory, its lock and its records. */
  readonly agent: string;
  /** Name of the systemd unit that runs it, without `.service`; names the service record. */
  readonly unit: string;
  /** One line for `plan`. */
  readonly purpose: string;
  /** Reported when all steps are done. */
  readonly achieved?: string;
  readonly steps: readonly Step<Context>[];
  /** Publishes the state of the plan to others. Limits its own duration; must not throw. */
  readonly announce?: (context: Context, event: PlanEvent, signal: AbortSignal) => Promise<void>;
}
