import type { BundleView, Found, Rule } from '../bundle-view.ts';
import { certificatesInUse, type HostCertificate } from '../reading/certificates.ts';
import { SERVING_ADVICE, SITE_ADVICE, servingApart } from '../reading/serving-requests.ts';
import { duration, plural, some, time } from '../reading/words.ts';

/** Certificates that this host trusts or hands out, but does not present itself. */
const ANCHORS = /^\/(etc\/pki|root)\//;

const CHECK_CLOCK = 'Check the clock first ("timedatectl").';

/** TLS peers reject a certificate after its notAfter (RFC 5280, 4.1.2.5). */
export const certificateExpired: Rule = {
  name: 'certificate-expired',
  looksFor:
    'an expired certificate on the host, unless a newer one with the same subject has replaced it',
  todo: `${CHECK_CLOCK} With the Kubernetes payload, run "systemctl restart sno-certificates kubelet" to renew expired certificates. With OpenShift, keep the host running: the kubelet requests new ones with its bootstrap kubeconfig, and the operators renew theirs.`,
  find(view) {
    const expired = certificatesInUse(view)
      .filter(({ notAfterMs }) => notAfterMs <= view.atMs)
      .toSorted((a, b) => a.notAfterMs - b.notAfterMs);
    const advice = {
      usual: this.todo,
      serving: `${CHECK_CLOCK} ${SERVING_ADVICE}`,
      site: `${CHECK_CLOCK} ${SITE_ADVICE}`,
    };
    return servingApart(view, expired, advice, (part, todo) => found(view, part, todo));
  },
};

function found(view: BundleView, expired: readonly HostCertificate[], usual: string): Found[] {
  const [first] = expired;
  if (first === undefined) return [];
  const ago = duration(view.atMs - first.notAfterMs);
  const title =
    expired.length === 1
      ? `The certificate of ${first.subject} expired ${ago} ago: ${first.file}`
      : `${plural(expired.length, 'certificate')} have expired, the first ${ago} ago: ${some(expired.map(({ subject }) => subject))}`;
  const authority = expired.find(({ isAuthority }) => isAuthority);
  const todo =
    authority === undefined
      ? usual
      : `${authority.subject} (${authority.file}) is a CA that expired on ${time(authority.notAfterMs)}: check the clock first. If it is correct, every certificate that this CA signed must be replaced: reinstall the host.`;
  const isUsed = expired.some(({ file }) => !ANCHORS.test(file));
  return [
    {
      severity: isUsed ? 'failing' : 'warning',
      title,
      sinceMs: first.notAfterMs,
      evidence: expired.flatMap((one) => one.evidence()),
      todo,
    },
  ];
}
