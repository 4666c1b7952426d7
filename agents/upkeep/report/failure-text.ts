import type { FailureData } from '../../../lib/base/errors/failure-data.ts';
import { redact } from '../../../lib/base/log/redact.ts';
import { inOneLine } from '../../../lib/base/printable.ts';
import type { ReportedState } from '../../../lib/engine/report/node-report.ts';

/** Of one sentence. */
const LONGEST = 1000;

/** A sentence for somebody else: without secrets, in one line. */
export const told = (text: string): string => inOneLine(redact(text)).slice(0, LONGEST);

/**
 * What is reported of a failure. What was expected and found is not: it may have addresses of the site, or lines of a log.
 */
export const toldFailure = (
  failure: FailureData | undefined,
): Pick<ReportedState, 'code' | 'what' | 'fix'> =>
  failure === undefined
    ? {}
    : {
        code: failure.code,
        what: told(failure.what),
        ...(failure.fix === undefined ? {} : { fix: told(failure.fix) }),
      };
