import type { BundleView } from '../bundle-view.ts';
import { certificatesInUse, type HostCertificate } from './certificates.ts';
import { type ApiObject, objects } from './objects.ts';
import { at, textAt } from './values.ts';

export const SERVING_SIGNER = 'kubernetes.io/kubelet-serving';

/** The share of its lifetime after which a kubelet has requested the next one (client-go). */
const REQUESTED_BY = 0.9;

/** The certificate with which the kubelet serves logs, exec and metrics. */
export const isKubeletServing = ({ file }: Pick<HostCertificate, 'file'>): boolean =>
  file.endsWith('/kubelet-server-current.pem');

/** Whether a request was neither approved nor denied. */
export const isUndecided = ({ conditions, raw }: ApiObject): boolean =>
  conditions.length === 0 && at(raw, 'status', 'certificate') === undefined;

/** Requests of nodes for serving certificates that nobody has decided on. */
export const pendingServingRequests = (view: BundleView): ApiObject[] =>
  objects(view, 'csr').filter(
    (request) =>
      isUndecided(request) && textAt(request.raw, 'spec', 'signerName') === SERVING_SIGNER,
  );

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
