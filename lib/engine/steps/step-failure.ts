import { Failure } from '../../base/errors/failure.ts';
import {
  type FailureData,
  failureFromData,
  failureSentence,
} from '../../base/errors/failure-data.ts';
import { asFailure } from '../../base/errors/unexpected.ts';
import type { Progress } from './progress.ts';
import type { Outcome, Step } from './step.ts';

/** A programming error may be transient; more attempts than this would only hide it. */
export const BUG_ATTEMPTS = 3;

/** How an attempt failed, as the error that determines what happens next. */
export function failureOf(outcome: Outcome | undefined, error: unknown): Failure {
  if (error !== undefined) return asFailure(error);
  return new Failure('retry', outcome?.kind === 'not-yet' ? outcome.reason : 'it did not end');
}

/** The last observed state of what a step is waiting for. */
export function lastSeen(outcome: Outcome | undefined, { lastWait }: Progress): string | undefined {
  if (outcome?.kind === 'not-yet') return outcome.reason;
  return lastWait === undefined ? undefined : `still waiting for ${lastWait}`;
}

/**
 * The error at a step's deadline, unless the step ended with a final one itself.
 * `seen` is the last observation, `before` the failure of the previous attempt,
 * possibly in an earlier process.
 */
export function deadlineFailure<Context>(
  step: Step<Context>,
  { seen, before }: { readonly seen: string | undefined; readonly before: FailureData | undefined },
  error: unknown,
): Failure {
  const cause = error === undefined ? undefined : asFailure(error);
  if (cause !== undefined && cause.kind !== 'retry' && cause.kind !== 'deadline') return cause;
  return new Failure('deadline', `deadline of ${Math.round(step.deadlineMs / 1000)}s exceeded`, {
    expected: step.leaves,
    found: seen ?? (before === undefined ? undefined : failureSentence(before)),
    cause: cause ?? (before === undefined ? undefined : failureFromData(before)),
    // `found` includes the previous failure.
    tellsCause: cause === undefined,
  });
}

/** Any thrown value, prefixed with the step's name, with nothing lost. */
export function named(step: string, error: unknown): Failure {
  const { kind, what, details, stack } = asFailure(error);
  const failure = new Failure(kind, `${step}: ${what}`, details);
  if (stack !== undefined) failure.stack = stack;
  return failure;
}
