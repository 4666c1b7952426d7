import type { CsrJudgement } from './checks.ts';

/** The decision on one request; reported once, and again when it changes. */
export interface Decision {
  readonly request: string;
  readonly requestor: string;
  readonly signer: string;
  /** `failed`: it should be approved, but the API does not accept that now. */
  readonly judgement:
    | CsrJudgement
    | { readonly verdict: 'failed'; readonly rule: 'api'; readonly explanation: string };
  /** Set on the last decision that is reported: there are too many requests of these. */
  readonly isLastOf?: 'this requestor' | 'unknown hosts';
}

/**
 * One event for the journal: a sentence, and for a request that is not approved the fields
 * `request`, `rule` and `why`, which the report reads (report/rules/csr-pending.ts).
 */
export function describeDecision({
  request,
  requestor,
  signer,
  judgement,
  isLastOf,
}: Decision): [sentence: string, fields: Readonly<Record<string, string>>] {
  const what = `request ${request} of ${requestor || 'an unknown user'} to ${signer}`;
  if (judgement.verdict === 'approve') return [`Approved ${what}`, {}];
  const verb = judgement.verdict === 'failed' ? 'Could not approve' : 'Did not approve';
  const rest = isLastOf === undefined ? '' : `; further requests of ${isLastOf} are not reported`;
  return [`${verb} ${what}${rest}`, { request, rule: judgement.rule, why: judgement.explanation }];
}
