import type { BundleView, Found, Rule } from '../bundle-view.ts';
import { certificatesInUse, type HostCertificate } from '../reading/certificates.ts';
import { SERVING_ADVICE, SITE_ADVICE, servingApart } from '../reading/serving-requests.ts';
import { duration, plural, some } from '../reading/words.ts';

/**
 * Certificates that are renewed are renewed earlier: the kubelet's with 10 to 30 % of their
 * lifetime left (client-go, certificate manager), the agents' with a third (lib/pki/lifetimes.ts).
 */
const LEFT_OF_LIFE = 0.1;
/** For CA certificates, which are valid for years: their last month is early enough. */
const SOON_MS = 30 * 86_400_000;

export const certificateExpiresSoon: Rule = {
  name: 'certificate-expires-soon',
  looksFor:
    'a certificate in use that expires within 30 days, with less than a tenth of its lifetime left',
  todo: 'Run "systemctl start sno-renew" with the Kubernetes payload, which renews certificates without a restart, and see its journal. With OpenShift, look for pending requests ("oc get csr").',
  find(view) {
    const ending = certificatesInUse(view)
      .filter(({ notBeforeMs, notAfterMs }) => {
        const left = notAfterMs - view.atMs;
        return left > 0 && left < SOON_MS && left < LEFT_OF_LIFE * (notAfterMs - notBeforeMs);
      })
      .toSorted((a, b) => a.notAfterMs - b.notAfterMs);
    const advice = { usual: this.todo, serving: SERVING_ADVICE, site: SITE_ADVICE };
    return servingApart(view, ending, advice, (part, todo) => found(view, part, todo));
  },
};

function found(view: BundleView, ending: readonly HostCertificate[], todo: string): Found[] {
  const [first] = ending;
  if (first === undefined) return [];
  const left = duration(first.notAfterMs - view.atMs);
  const title =
    ending.length === 1
      ? `The certificate of ${first.subject} expires in ${left}: ${first.file}`
      : `${plural(ending.length, 'certificate')} expire soon, the first in ${left}: ${some(ending.map(({ subject }) => subject))}`;
  const evidence = ending.flatMap((one) => one.evidence());
  return [{ severity: 'warning', title, evidence, todo }];
}
