import { createHash } from 'node:crypto';
import { snapshotPath, snapshotRecordPath } from '../../../../agents/bootkube/handover/snapshot.ts';
import type { TestHost } from '../host/host.ts';

/** A snapshot on that live host, and its record. */
export function giveSnapshot(live: TestHost): void {
  const { context } = live;
  const contents = 'snapshot';
  live.write(snapshotPath(context), contents);
  const record = {
    clusterId: context.cluster.clusterId,
    sha256: createHash('sha256').update(contents).digest('hex'),
    bytes: contents.length,
    revision: 4711,
    hash: 1,
    compactRevision: 4711,
    etcdVersion: '3.6.8',
    hostname: 'edge-0',
    nodeIps: ['192.0.2.10'],
  };
  live.write(snapshotRecordPath(context), JSON.stringify(record));
}
