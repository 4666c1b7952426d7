import { AssertionError } from 'node:assert';
import { type FailureCode, isFailureCode } from './codes.ts';
import { describeError, Failure } from './failure.ts';

/** Errors of the language. A SyntaxError is none of them: it tells of data that cannot be parsed. */
const BUGS = [TypeError, RangeError, ReferenceError, AssertionError];

/**
 * Whether an error says that the program is wrong, not the host. `fetch` throws a TypeError for
 * each network error, and has that one as its cause.
 */
export function isBug(error: unknown): boolean {
  if (error instanceof TypeError && error.message === 'fetch failed') return false;
  return BUGS.some((type) => error instanceof type);
}

/**
 * Anything thrown as a Failure. One stays as it is; a programming error is a `bug`; everything
 * else is retryable, since it is mostly the host that is not ready yet.
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

/** Errors of other layers may name their code (`failureCode`) without being a Failure. */
export function codeOf(error: unknown): FailureCode {
  if (error instanceof Failure) return error.code;
  if (isBug(error)) return 'bug';
  if (!(error instanceof Error && 'failureCode' in error)) return 'error';
  const named = String(error.failureCode);
  return isFailureCode(named) ? named : 'error';
}
