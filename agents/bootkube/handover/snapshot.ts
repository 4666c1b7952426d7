import { join } from 'node:path';
import { Failure } from '../../../lib/base/errors/failure.ts';
import type { EtcdClient } from '../../../lib/clients/etcd/client.ts';
import { waitUntilRevisionStable } from '../../../lib/clients/etcd/revision-stable.ts';
import { takeSnapshot } from '../../../lib/clients/etcd/snapshot.ts';
import {
  readSnapshotRecord,
  SNAPSHOT_FILE,
  SNAPSHOT_RECORD_FILE,
  type SnapshotRecord,
  writeSnapshotRecord,
} from '../../../lib/cluster/installation/snapshot-record.ts';
import type { Progress } from '../../../lib/engine/steps/progress.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { isMissing, sha256OfFile } from '../../../lib/host/files.ts';
import { hostAddresses } from '../../../lib/host/network.ts';
import { withEtcd } from '../../../lib/render/access.ts';
import { loadIdentity, type RenderedIdentity } from '../../../lib/render/store.ts';
import type { HostContext } from '../../steps/host-context.ts';

export const snapshotPath = ({ paths }: HostContext) => join(paths.assets, SNAPSHOT_FILE);
export const snapshotRecordPath = ({ paths }: HostContext) =>
  join(paths.assets, SNAPSHOT_RECORD_FILE);

/**
 * Takes the snapshot of an etcd without writers: compacted to its last revision (so that deleted
 * data is not included), defragmented, hashed and streamed.
 */
export const snapshot: StepBody<HostContext> = {
  name: 'snapshot',
  leaves: 'a verified etcd snapshot and the record of its revision and hash',
  touches: ['disk', 'etcd'],
  retries: true,
  input: ({ cluster }) => cluster.clusterId,
  async holds(context, { signal }) {
    const record = await readSnapshotRecord(snapshotRecordPath(context));
    if (record?.clusterId !== context.cluster.clusterId) return false;
    try {
      return (await sha256OfFile(snapshotPath(context), signal)) === record.sha256;
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
    }
  },
  async run(context, progress) {
    const record = await withEtcd(context.cluster.controlPlane, context.paths, (client) =>
      snapshotFrom(client, context, progress),
    );
    await writeSnapshotRecord(snapshotRecordPath(context), record);
    return done(`revision ${record.revision}, ${Math.ceil(record.bytes / 1024)} KiB`);
  },
};

async function snapshotFrom(
  client: EtcdClient,
  context: HostContext,
  progress: Progress,
): Promise<SnapshotRecord> {
  const limits = { signal: progress.signal, deadlineMs: progress.remainingMs() };
  // Events and the live API server's address record expire by lease: they belong to the live
  // stage (the log bundle has the events), and etcdutl cannot hash a database with leases.
  const leases = await client.revokeLeases(limits);
  progress.say(`Revoked ${leases} etcd leases, with their events and records`);
  const revision = await progress.wait('a stable etcd revision', () =>
    waitUntilRevisionStable(client, {
      ...limits,
      quietMs: context.settings.quietRevisionMs,
      report: (text) => progress.waitingFor(text),
    }),
  );
  await client.compact(revision, true, limits);
  await client.defragment(limits);
  const { hash, compactRevision } = await client.hashKv(revision, limits);
  const { sha256, bytes, version, ...taken } = await takeSnapshot(
    client,
    snapshotPath(context),
    limits,
  );
  if (taken.revision !== revision) {
    throw new Failure('retry', 'etcd revision changed during the snapshot', {
      code: 'snapshot-unusable',
      expected: `revision ${revision}`,
      found: `revision ${taken.revision}`,
    });
  }
  const { hostname, nodeIps } = await expectIdentity(context, progress.signal);
  return {
    clusterId: context.cluster.clusterId,
    sha256,
    bytes,
    revision,
    hash,
    compactRevision,
    etcdVersion: version,
    hostname,
    nodeIps,
  };
}

/** Host name and addresses as rendered into certificates; a Failure if they have changed since. */
async function expectIdentity(
  { paths, hostname }: HostContext,
  signal: AbortSignal,
): Promise<RenderedIdentity> {
  const expected = await loadIdentity(paths);
  const addresses = (await hostAddresses(signal)).map(({ address }) => address);
  const isSame =
    hostname() === expected.hostname &&
    expected.nodeIps.every((address) => addresses.includes(address));
  if (isSame) return expected;
  throw new Failure('retry', "the host's name or address does not match its certificates", {
    code: 'identity-changed',
    expected: [expected.hostname, ...expected.nodeIps].join(', '),
    found: [hostname(), ...addresses].join(', '),
    fix: 'Give the host reserved addresses and a permanent name.',
  });
}
