import { randomUUID } from 'node:crypto';
import { Failure } from '../../../lib/base/errors/failure.ts';
import type { ProxySettings } from '../../../lib/base/network/proxy-for.ts';
import { readCluster } from '../../../lib/config/cluster/read-cluster.ts';
import { parseReportTo, reportToPath } from '../../../lib/engine/report/read-report-to.ts';
import { readTextIfPresent, sha256 } from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { readSoundSettings } from '../../../lib/host/settings.ts';
import type { Reporting } from './send-newest.ts';

export interface ReportContext extends Omit<Reporting, 'proxy'> {
  /** Of this run: an earlier one has seen another state. */
  readonly run: string;
}

/** @throws Failure (usage) without a report-to.json, or with one that cannot be used */
export async function reportContext(paths: HostPaths): Promise<ReportContext> {
  const path = reportToPath(paths);
  const text = await readTextIfPresent(path);
  if (text === undefined) {
    throw new Failure('usage', `${path} does not exist`, {
      fix: 'This host does not report. See docs/upkeep.md.',
    });
  }
  const { settings } = await readSoundSettings(paths);
  const to = parseReportTo(text, path);
  return { paths, settings, to, target: sha256(text), run: randomUUID() };
}

/** Digest of the report-to.json that is there now: a site volume may bring another one at any time. */
export async function presentTarget(paths: HostPaths): Promise<string> {
  return sha256((await readTextIfPresent(reportToPath(paths))) ?? '');
}

/** Of the site where the host is now; undefined also while its description cannot be read. */
export async function presentProxy(paths: HostPaths): Promise<ProxySettings | undefined> {
  const cluster = await readCluster(paths).catch(() => undefined);
  return cluster?.proxy;
}
