import { join } from 'node:path';
import type { Etcdutl } from '../../../lib/clients/etcd/etcdutl.ts';
import { restoreSnapshot } from '../../../lib/clients/etcd/restore.ts';
import { SNAPSHOT_FILE } from '../../../lib/cluster/installation/snapshot-record.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { exists } from '../../../lib/host/files.ts';
import { accessTo } from '../../../lib/render/access.ts';
import type { HostContext } from '../../steps/host-context.ts';
import { requireRecord, restoreFile } from './record.ts';

/** The member whose database is restored, and what restores it. */
export interface RestoringMember {
  readonly name: string;
  readonly peerUrl: string;
  readonly token: string;
  readonly etcdutl: Etcdutl;
  /** Whether that etcdutl can hash a database. */
  readonly hashes: boolean;
}

/** Restores the database beside its final path and compares its hash before it can be used. */
export const restoreDatabaseOf = (
  memberOf: (context: HostContext, signal: AbortSignal) => Promise<RestoringMember>,
): StepBody<HostContext> => ({
  name: 'restore-database',
  leaves: "etcd's database, with the hash that the live stage recorded",
  touches: ['disk', 'etcd'],
  retries: true,
  input: requireRecord,
  holds: ({ paths }) => exists(join(paths.etcdData, 'member/snap/db')),
  async run(context, progress) {
    const { paths } = context;
    const { sha256, revision, hash, compactRevision } = await requireRecord(context);
    const { hashes, ...member } = await memberOf(context, progress.signal);
    const result = await progress.wait('etcdutl to rebuild the database', () =>
      restoreSnapshot(restoreFile(context, SNAPSHOT_FILE), paths.etcdData, {
        ...member,
        expected: { sha256, revision, ...(hashes ? { history: { hash, compactRevision } } : {}) },
        signal: progress.signal,
        deadlineMs: progress.remainingMs(),
      }),
    );
    const verified = hashes ? `hash ${hash} verified` : 'its hash is not verified';
    return done(
      result === 'restored'
        ? `revision ${revision}, ${verified}`
        : 'this snapshot is already restored',
    );
  },
});

/** The same for every host of the Kubernetes payload, which has etcdutl. */
export const restoreDatabase = restoreDatabaseOf(async ({ paths, cluster }) => ({
  ...accessTo(cluster.controlPlane).etcd.member,
  etcdutl: join(paths.binaries, 'etcdutl'),
  hashes: true,
}));
