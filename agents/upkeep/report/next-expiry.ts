import { X509Certificate } from 'node:crypto';
import { readCluster } from '../../../lib/config/cluster/read-cluster.ts';
import type { NodeReport } from '../../../lib/engine/report/node-report.ts';
import { parseReportTo, reportToPath } from '../../../lib/engine/report/read-report-to.ts';
import { readTextIfPresent } from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { listCertificates } from '../../steps/certificates/list.ts';

type NextExpiry = NonNullable<NodeReport['nextExpiry']>;

/** The client's own for its hub: nobody renews it but the next site volume. */
const REPORT = 'report';

/**
 * Of the certificates whose end stops something, the one that ends first. What cannot be read is left out: that of a host
 * without a cluster, say.
 */
export async function nextExpiry(paths: HostPaths): Promise<NextExpiry | undefined> {
  const all = [...(await ofCluster(paths)), ...(await ofReport(paths))];
  return all.toSorted((a, b) => Date.parse(a.notAfter) - Date.parse(b.notAfter))[0];
}

/** On OpenShift, its operators see to them: some live for a month. */
async function ofCluster(paths: HostPaths): Promise<NextExpiry[]> {
  const cluster = await readCluster(paths).catch(() => undefined);
  if (cluster === undefined || cluster.controlPlane === 'openshift') return [];
  const { items } = await listCertificates(paths);
  return (
    items
      // What others only trust may end.
      .filter(({ kind }) => kind !== 'trust')
      .flatMap(({ name, notAfter }) =>
        notAfter === undefined ? [] : [{ certificate: name, notAfter }],
      )
  );
}

async function ofReport(paths: HostPaths): Promise<NextExpiry[]> {
  const text = await readTextIfPresent(reportToPath(paths));
  if (text === undefined) return [];
  try {
    const to = parseReportTo(text, REPORT);
    if (!('hub' in to)) return [];
    const { validToDate } = new X509Certificate(to.hub.certificate);
    return [{ certificate: REPORT, notAfter: validToDate.toISOString() }];
  } catch {
    return [];
  }
}
