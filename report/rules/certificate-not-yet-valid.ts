import type { Rule } from '../bundle-view.ts';
import { certificatesInUse } from '../reading/certificates.ts';
import { duration, plural, some, time } from '../reading/words.ts';

/** The clock was set back, or was fast when the certificate was issued. */
export const certificateNotYetValid: Rule = {
  name: 'certificate-not-yet-valid',
  looksFor: 'a certificate in use that is not valid yet according to the clock of this host',
  todo: 'Correct the clock ("timedatectl", "chronyc sources"). If it is correct, the certificate was issued with a wrong clock: with the Kubernetes payload, run "systemctl start sno-renew", which signs leaf certificates again and restarts the kubelet. For a CA, wait until it is valid, or reinstall the host.',
  find(view) {
    const early = certificatesInUse(view)
      .filter(({ notBeforeMs }) => notBeforeMs > view.atMs)
      .toSorted((a, b) => b.notBeforeMs - a.notBeforeMs);
    const [last] = early;
    if (last === undefined) return [];
    return [
      {
        severity: 'failing',
        title: `${plural(early.length, 'certificate is', 'certificates are')} not valid yet; according to the clock of this host, for another ${duration(last.notBeforeMs - view.atMs)}, until ${time(last.notBeforeMs)}: ${some(early.map(({ subject }) => subject))}`,
        evidence: early.flatMap((one) => one.evidence()),
      },
    ];
  },
};
