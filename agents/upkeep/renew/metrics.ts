import { type Sample, sample } from '../../../lib/engine/metrics/metrics.ts';
import { measureRun } from '../../../lib/engine/metrics/run.ts';
import type { MeasuredHost } from '../../../lib/engine/metrics/write.ts';
import type { EndedRun } from '../../../lib/engine/steps/agent-command.ts';
import { exists, readTextIfPresent } from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { LAPTOP_SERVING_CA } from '../../../lib/pki/authority.ts';
import type { InventoryItem } from '../../../lib/pki/inventory.ts';
import {
  authorityPaths,
  laptopAdminCa,
  mediumServingCa,
} from '../../../lib/render/kubernetes/authorities.ts';
import { listCertificates } from '../../steps/certificates/list.ts';
import { type RenewalAttempt, readAttempts } from './attempts.ts';

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
    ...(await mediumAuthorities(paths, items)),
    sample('sno_kubelet_serving_request_pending', {}, attempts.some(isPending)),
  ];
}

/** Of those whose certificate is on the host. */
async function mediumAuthorities(
  paths: HostPaths,
  items: readonly InventoryItem[],
): Promise<Sample[]> {
  const read = (path: string) => readTextIfPresent(paths.at(path));
  const serving = await read(authorityPaths('serving').certificate);
  const isTrusted = await exists(paths.at(laptopAdminCa));
  const laptop = sample('sno_medium_ca_in_use', { ca: 'laptop-admin' }, isTrusted);
  if (serving === undefined) return [laptop];
  const name = items.find(({ path }) => path === authorityPaths('serving').certificate)?.subject;
  const isInUse = name === LAPTOP_SERVING_CA || serving === (await read(mediumServingCa));
  return [sample('sno_medium_ca_in_use', { ca: 'serving' }, isInUse), laptop];
}

function lifetime({ name, kind, renewedBy, notBefore, notAfter }: InventoryItem): Sample[] {
  if (notBefore === undefined || notAfter === undefined) return [];
  const labels = { certificate: name, kind, renewed_by: renewedBy };
  return [
    sample('sno_certificate_not_after_timestamp_seconds', labels, new Date(notAfter)),
    sample('sno_certificate_not_before_timestamp_seconds', labels, new Date(notBefore)),
  ];
}

const isPending = ({ failure }: RenewalAttempt): boolean =>
  failure?.code === 'serving-request-pending' || failure?.code === 'serving-request-missing';
