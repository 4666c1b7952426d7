import { AssertionError } from 'node:assert';
import { type FailureCode, isFailureCode } from './codes.ts';
import { describeError, Failure } from './failure.ts';

/** Errors of the language. SyntaxError is not included: it reports data that cannot be parsed. */
const BUGS = [TypeError, RangeError, ReferenceError, AssertionError];

/**
 * Whether an error means that the program is wrong, not the host. `fetch` throws a
 * TypeError for every network error, with the network error as its cause.
 */
export function isBug(error: unknown): boolean {
  if (error instanceof TypeError && error.message === 'fetch failed') return false;
  return BUGS.some((type) => error instanceof type);
}

/**
 * Any thrown value as a Failure. A Failure is returned as it is; a programming
 * error becomes a `bug`; everything else is retryable, since usually the host is
 * just not ready yet.
 */
export function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  if (isBug(error)) {
    return new Failure('bug', `internal error: ${describeError(error)}`, {
      fix: 'This is a bug: please report it with the log bundle ("gather").',
      cause: error,
      tellsCause: true,
    });
  }
  return new Failure('retry', describeError(error), {
    code: codeOf(error),
    cause: error,
    tellsCause: true,
  });
}

/** Errors of other layers may carry a code (`failureCode`) without being a Failure. */
export function codeOf(error: unknown): FailureCode {
  if (error instanceof Failure) return error.code;
  if (isBug(error)) return 'bug';
  if (!(error instanceof Error && 'failureCode' in error)) return 'error';
  const named = String(error.failureCode);
  return isFailureCode(named) ? named : 'error';
}
