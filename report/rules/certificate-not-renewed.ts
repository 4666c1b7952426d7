import type { FailureData } from '../../lib/base/errors/failure-data.ts';
import type { Rule } from '../bundle-view.ts';
import { allWithCode, factsOf, fixOf } from '../reading/failure.ts';
import { pendingServingRequests } from '../reading/serving-requests.ts';
import { aboutFailure, stepFailuresWith } from '../reading/steps.ts';

/** sno-renew renews certificates in the last third of their lifetime (agents/upkeep/renew/). */
export const certificateNotRenewed: Rule = {
  name: 'certificate-not-renewed',
  looksFor:
    'a certificate that sno-renew could not renew: the last entry of its step journal, which says whether it could not be signed, was not accepted, or was not requested by the kubelet; the next serving certificate of a joined worker; or the CA of the laptop that is still trusted',
  codes: [
    'renewal-failed',
    'leaf-not-signed',
    'leaf-not-accepted',
    'serving-request-pending',
    'serving-request-missing',
    'worker-request-pending',
    'laptop-ca-trusted',
  ],
  todo: 'Fix the cause, then run "systemctl start sno-renew". Nothing has stopped working yet: "sno-certificates list" prints until when the certificates are valid.',
  find(view) {
    const pending = pendingServingRequests(view).map(({ name }) => name);
    return stepFailuresWith(view, 'renewal-failed').flatMap((failed) =>
      allWithCode(
        failed.failure,
        'leaf-not-signed',
        'leaf-not-accepted',
        'serving-request-pending',
        'serving-request-missing',
        'worker-request-pending',
        'laptop-ca-trusted',
      )
        // The rule csr-pending reports the request itself.
        .filter(({ subject }) => !pending.includes(subject ?? ''))
        .map((part) => ({
          ...aboutFailure(failed),
          severity: 'failing',
          title: `${outcomeOf(part)}: ${factsOf(part)}`,
          todo: `${fixOf(part) ?? 'Fix the cause.'} Then run "systemctl start sno-renew".`,
        })),
    );
  },
};

/** With the path, by which findings about its expiry name it. */
function outcomeOf({ code, subject = '' }: FailureData): string {
  if (code === 'laptop-ca-trusted') return `${subject} is still trusted`;
  if (code === 'worker-request-pending')
    return 'The serving certificate of a worker was not renewed';
  const name = subject.startsWith('/') ? subject : "The kubelet's serving certificate";
  return `${name} was not renewed`;
}
