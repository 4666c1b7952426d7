import type { HostPaths } from '../../../lib/host/paths.ts';
import { type Sample, sample } from '../../../lib/metrics/metrics.ts';
import { measureRun } from '../../../lib/metrics/run.ts';
import type { MeasuredHost } from '../../../lib/metrics/write.ts';
import type { InventoryItem } from '../../../lib/pki/inventory.ts';
import type { EndedRun } from '../../../lib/steps/agent-command.ts';
import { listCertificates } from '../certificates/list.ts';
import { type Attempt, readAttempts } from './attempts.ts';

/** After each run of sno-renew. */
export const measureRenewal = (host: MeasuredHost, ended: EndedRun): Promise<void> =>
  measureRun(host, 'sno-renew', ended, () => certificateMetrics(host.paths));

/** Every certificate of the host with its lifetime, and what could not be renewed. */
async function certificateMetrics(paths: HostPaths): Promise<Sample[]> {
  const [{ items }, attempts] = await Promise.all([listCertificates(paths), readAttempts(paths)]);
  return [
    ...items.flatMap(lifetime),
    ...attempts.map(({ name, failure }) =>
      sample('sno_certificate_renewal_failed', { certificate: name }, failure !== undefined),
    ),
    sample('sno_kubelet_serving_request_pending', {}, attempts.some(isPending)),
  ];
}

function lifetime({ name, kind, renewedBy, notBefore, notAfter }: InventoryItem): Sample[] {
  if (notBefore === undefined || notAfter === undefined) return [];
  const labels = { certificate: name, kind, renewed_by: renewedBy };
  return [
    sample('sno_certificate_not_after_timestamp_seconds', labels, new Date(notAfter)),
    sample('sno_certificate_not_before_timestamp_seconds', labels, new Date(notBefore)),
  ];
}

const isPending = ({ failure }: Attempt): boolean =>
  failure?.code === 'serving-request-pending' || failure?.code === 'serving-request-missing';
