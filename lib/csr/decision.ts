import type { Judgement } from './judge.ts';

/** What became of one request; reported once, and again when it becomes something else. */
export interface Decision {
  readonly request: string;
  readonly requestor: string;
  readonly signer: string;
  /** `failed`: it should be approved, but the API does not take that now. */
  readonly judgement:
    | Judgement
    | { readonly verdict: 'failed'; readonly rule: 'api'; readonly explanation: string };
}

/** One sentence for the journal. */
export function describeDecision({ request, requestor, signer, judgement }: Decision): string {
  const what = `request ${request} of ${requestor || 'nobody'} to ${signer}`;
  if (judgement.verdict === 'approve') return `Approved ${what}`;
  if (judgement.verdict === 'failed') return `Could not approve ${what}: ${judgement.explanation}`;
  return `Did not approve ${what}, by the rule "${judgement.rule}": ${judgement.explanation}`;
}
