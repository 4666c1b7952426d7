import type { Exception } from './exceptions.ts';
import type { Outcome, TestMessage } from './ginkgo-report.ts';

/** An outcome compared with the list of exceptions. */
export interface Verdict {
  /** Failures that are not exceptions, and conformance tests that skipped themselves. */
  readonly unexpected: readonly TestMessage[];
  /** Exceptions that failed or skipped themselves, as documented. */
  readonly expected: readonly (TestMessage & { readonly reason: string })[];
  /** Exceptions that passed: the list is out of date. */
  readonly outdated: readonly string[];
  /** Every selected test ran, and only exceptions failed or, of the conformance tests, skipped themselves. */
  readonly ok: boolean;
}

export function judge(outcome: Outcome, exceptions: readonly Exception[]): Verdict {
  const reasons = new Map(exceptions.map(({ test, reason }) => [test, reason]));
  // Other tests ask for what the cluster has, and skip themselves; those of conformance must not.
  const skipped = outcome.skipped.filter(({ test }) => test.includes('[Conformance]'));
  const unexpected = [...outcome.failed, ...skipped].filter(({ test }) => !reasons.has(test));
  const expected = [...outcome.failed, ...outcome.skipped].flatMap((result) => {
    const reason = reasons.get(result.test);
    return reason === undefined ? [] : [{ ...result, reason }];
  });
  const outdated = outcome.passed.map(({ test }) => test).filter((test) => reasons.has(test));
  const ran = outcome.passed.length + outcome.failed.length > 0;
  return {
    unexpected,
    expected,
    outdated,
    ok: ran && outcome.notRun === 0 && unexpected.length === 0,
  };
}
