import type { Decision } from './approver.ts';

/** A decision about a request as one sentence for the log. */
export function describeDecision({ request, requestor, signer, judgement }: Decision): string {
  const what = `the request ${request} of ${requestor} (${signer})`;
  switch (judgement.verdict) {
    case 'approve':
      return `Approved ${what}`;
    case 'leave':
      return `Left ${what} alone, by the rule ${judgement.rule}: ${judgement.explanation}`;
    case 'failed':
      return `Could not approve ${what} now: ${judgement.explanation}`;
  }
}
