import { describeError, Failure } from '../errors/failure.ts';
import type { Progress } from './progress.ts';
import type { Outcome, Step } from './step.ts';

/** How an attempt failed, as the error that decides what follows. An unknown error is retryable. */
export function failureOf(outcome: Outcome | undefined, error: unknown): Failure {
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

/** What was observed last of what a step waits for. */
export function lastSeen(outcome: Outcome | undefined, { lastWait }: Progress): string | undefined {
  if (outcome?.kind === 'not-yet') return outcome.reason;
  return lastWait === undefined ? undefined : `still waiting for ${lastWait}`;
}

/** The error at a step's deadline, unless the step met a final one itself. */
export function deadlineFailure<Context>(
  step: Step<Context>,
  seen: string | undefined,
  error: unknown,
): Failure {
  const fatal = error instanceof Failure && (error.kind === 'fatal' || error.kind === 'usage');
  if (fatal) return error;
  return new Failure('deadline', `the deadline of ${Math.round(step.deadlineMs / 1000)}s is over`, {
    expected: step.leaves,
    ...(seen === undefined ? {} : { found: seen }),
    ...(error === undefined ? {} : { cause: error }),
  });
}

/** Whatever was thrown, with the step's name in front. */
export function named(step: string, error: unknown): Failure {
  const { kind, message, cause } = failureOf(undefined, error);
  return new Failure(kind, `${step}: ${message}`, cause === undefined ? {} : { cause });
}
