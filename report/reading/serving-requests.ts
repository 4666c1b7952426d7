import { servingSigner } from '../../lib/clients/kube/signers.ts';
import type { BundleView, Found } from '../bundle-view.ts';
import { certificatesInUse, type HostCertificate } from './certificates.ts';
import { type ApiObject, reportedObjects } from './objects.ts';
import { at, textAt } from './values.ts';

/** The share of its lifetime after which a kubelet has requested the next one (client-go). */
const REQUESTED_BY = 0.9;

/** What to do about an expired or expiring serving certificate of the kubelet. */
export const SERVING_ADVICE =
  'Without a valid one, logs, exec and metrics of this node fail. With the Kubernetes payload, run "systemctl start sno-renew", which approves the request of the kubelet, and see "journalctl -u sno-renew". With OpenShift, look for the pending request ("oc get csr"), check that this node sent it, and approve it ("oc adm certificate approve NAME").';

/** The certificate with which the kubelet serves logs, exec and metrics. */
const isKubeletServing = ({ file }: Pick<HostCertificate, 'file'>): boolean =>
  file.endsWith('/kubelet-server-current.pem');

/** What to do about the certificate that a site gave for its API: no agent renews it. */
export const SITE_ADVICE =
  'The site gave this certificate for the name of its API; without a valid one, clients from outside refuse the API, and the node itself goes on. Let the authority of the site issue the next one, and replace its two files on the host, the key first: the API server reads them within a minute. Or prepare a site volume with it ("sno create site-volume").';

/** The certificate of site-config.yaml (lib/render/kubernetes/site-certificate.ts). */
const isOfSite = ({ file }: Pick<HostCertificate, 'file'>): boolean =>
  file.endsWith('/kube-apiserver/site-api.crt');

/** Whether a request was neither approved nor denied. */
export const isUndecided = ({ conditions, raw }: ApiObject): boolean =>
  conditions.length === 0 && at(raw, 'status', 'certificate') === undefined;

/** Requests of nodes for serving certificates that nobody has decided on. */
export const pendingServingRequests = (view: BundleView): ApiObject[] =>
  reportedObjects(view, 'csr').filter(
    (request) =>
      isUndecided(request) && textAt(request.raw, 'spec', 'signerName') === servingSigner,
  );

/**
 * The findings about certificates: one about the kubelet's serving certificate, with its pending
 * requests as evidence, since their names link it to the findings about them; one about that of the site, with its own
 * advice; one about all others.
 *
 * @param usual what to do about all others, and `serving` about the kubelet's
 */
export function servingApart(
  view: BundleView,
  certificates: readonly HostCertificate[],
  { usual, serving: ofKubelet, site }: Readonly<Record<'usual' | 'serving' | 'site', string>>,
  found: (part: readonly HostCertificate[], todo: string) => readonly Found[],
): Found[] {
  const requests = pendingServingRequests(view).flatMap((request) => request.evidence());
  const others = certificates.filter((one) => !isKubeletServing(one) && !isOfSite(one));
  const serving = found(certificates.filter(isKubeletServing), ofKubelet);
  return [
    ...found(others, usual),
    ...found(certificates.filter(isOfSite), site),
    ...serving.map((one) => ({ ...one, evidence: [...one.evidence, ...requests] })),
  ];
}

/**
 * Since when the kubelet requests a new serving certificate, at the latest. It repeats the request,
 * and Kubernetes deletes undecided ones after a day: the oldest request may be young.
 */
export function servingRequestedMs(view: BundleView): number | undefined {
  const times = certificatesInUse(view)
    .filter(isKubeletServing)
    .map(({ notBeforeMs, notAfterMs }) => notBeforeMs + REQUESTED_BY * (notAfterMs - notBeforeMs))
    .filter((ms) => ms < view.atMs);
  return times.length === 0 ? undefined : Math.min(...times);
}
