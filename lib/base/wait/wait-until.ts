import { setTimeout as sleep } from 'node:timers/promises';
import { describeError } from '../errors/failure.ts';
import type { ChangeSignal } from './change-signal.ts';
import type { Limits } from './limits.ts';

/** It is not so yet: what is seen instead, as a sentence without a full stop, and the error that says so, if there is one. */
export interface NotMet {
  readonly state: string;
  readonly cause?: unknown;
}

/** What a look has found: it is so, with what that gives; or it is not. */
export type Seen<T> = { readonly met: T } | NotMet;

/**
 * Looks once whether it is so. The limits are those of the wait: what is left of its deadline, for calls that have none of
 * their own. What it throws ends the wait.
 */
export type WaitCondition<T> = (limits: Limits) => Promise<Seen<T>>;

export interface LookOptions extends Limits {
  /** Between two looks; with `changes`, the longest time without one. */
  readonly everyMs: number | (() => number);
  /** Tells of changes: the next look follows at once. */
  readonly changes?: ChangeSignal;
  /** Is told what is seen, whenever that changes. */
  readonly report?: (state: string) => void;
}

export interface WaitOptions extends LookOptions {
  /** The error at the deadline, of what was seen last. */
  readonly late: (last: NotMet) => Error;
}

/**
 * Looks at once, and then until it is so.
 *
 * @throws `late` at the deadline, the signal's reason, and what the condition throws.
 */
export async function waitUntil<T>(condition: WaitCondition<T>, options: WaitOptions): Promise<T> {
  const seen = await lookUntil(condition, options);
  if ('met' in seen) return seen.met;
  throw options.late(seen);
}

/** A look with less time than this sees nothing but its own deadline; a short wait is given a twentieth of itself. */
const LEAST_LOOK_MS = 50;

/**
 * The one loop that waits for others: everything else is in the condition. Returns what was seen last, which at the
 * deadline is no error.
 */
export async function lookUntil<T>(
  condition: WaitCondition<T>,
  { signal, deadlineMs, everyMs, changes, report }: LookOptions,
): Promise<Seen<T>> {
  const endsAt = performance.now() + deadlineMs;
  const leastMs = Math.max(1, Math.min(LEAST_LOOK_MS, deadlineMs / 20));
  for (let reported: string | undefined; ; ) {
    const leftMs = Math.max(1, Math.ceil(endsAt - performance.now()));
    const seen = await condition({ signal, deadlineMs: leftMs });
    if ('met' in seen) return seen;
    if (seen.state !== reported) report?.(seen.state);
    reported = seen.state;
    const longestMs = typeof everyMs === 'number' ? everyMs : everyMs();
    const pauseMs = Math.min(longestMs, endsAt - performance.now());
    if (pauseMs > 0) await pause(pauseMs, signal, changes);
    // A look whose calls have no time left would hide what was seen last.
    if (endsAt - performance.now() < leastMs) return seen;
  }
}

/** The same condition, for which an error is a state as well: what is asked may be restarting. */
export const orError =
  <T>(condition: WaitCondition<T>): WaitCondition<T> =>
  async (limits) => {
    try {
      return await condition(limits);
    } catch (cause) {
      limits.signal.throwIfAborted();
      return { state: describeError(cause), cause };
    }
  };

/** A condition of something that is tried: it is so when an attempt succeeds. */
export const succeeds = <T>(attempt: (limits: Limits) => Promise<T>): WaitCondition<T> =>
  orError(async (limits) => ({ met: await attempt(limits) }));

/** A condition of something that is so, or not, without more to say than `state`. */
export const holds =
  (isSo: (limits: Limits) => Promise<boolean>, state: string): WaitCondition<undefined> =>
  async (limits) =>
    (await isSo(limits)) ? { met: undefined } : { state };

async function pause(
  ms: number,
  signal: AbortSignal,
  changes: ChangeSignal | undefined,
): Promise<void> {
  const over = new AbortController();
  const either = { signal: AbortSignal.any([signal, over.signal]) };
  try {
    const slept = sleep(ms, undefined, either);
    await (changes === undefined ? slept : Promise.race([changes.next(either.signal), slept]));
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    over.abort();
  }
}
