import type { Rule } from '../bundle-view.ts';
import { certificatesInUse } from '../reading/certificates.ts';
import { duration, plural, some, time } from '../reading/words.ts';

/** What this host trusts or gives to people, and does not show to anybody itself. */
const ANCHORS = /^\/(etc\/pki|root)\//;

/** TLS refuses a certificate from its notAfter on (RFC 5280, 4.1.2.5): its holder is refused. */
export const certificateExpired: Rule = {
  name: 'certificate-expired',
  looksFor:
    'a certificate on the host whose time is over, unless a newer one of the same subject has replaced it',
  todo: 'Check the clock first ("timedatectl"). On the Kubernetes payload run "systemctl restart sno-certificates kubelet": it signs expired certificates again. On OpenShift keep the host on; the kubelet asks for new ones through its bootstrap kubeconfig and the operators renew theirs.',
  find(view) {
    const expired = certificatesInUse(view)
      .filter(({ notAfterMs }) => notAfterMs <= view.atMs)
      .toSorted((a, b) => a.notAfterMs - b.notAfterMs);
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
        ? this.todo
        : `${authority.subject} (${authority.file}) is an authority and ended on ${time(authority.notAfterMs)}: check the clock first; if it is right, everything that it signed has to be made again, so install the host again.`;
    const isUsed = expired.some(({ file }) => !ANCHORS.test(file));
    return [
      {
        rule: this.name,
        severity: isUsed ? 'failing' : 'warning',
        title,
        sinceMs: first.notAfterMs,
        evidence: expired.flatMap((one) => one.evidence()),
        todo,
      },
    ];
  },
};
