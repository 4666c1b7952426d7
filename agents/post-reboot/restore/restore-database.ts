import { join } from 'node:path';
import { restoreSnapshot } from '../../../lib/etcd/restore.ts';
import { exists } from '../../../lib/host/files.ts';
import { SNAPSHOT_FILE } from '../../../lib/installation/snapshot-record.ts';
import { accessTo } from '../../../lib/render/access.ts';
import { done } from '../../../lib/steps/step.ts';
import type { StepBody } from '../../../lib/steps/within.ts';
import type { HostContext } from '../../steps/host-context.ts';
import { requireRecord, restoreFile } from './record.ts';

/** Restores the database beside its final path and compares its hash before it can be used. */
export const restoreDatabase: StepBody<HostContext> = {
  name: 'restore-database',
  leaves: "etcd's database, with the hash that the live stage recorded",
  retries: true,
  input: requireRecord,
  holds: ({ paths }) => exists(join(paths.etcdData, 'member/snap/db')),
  async run(context, progress) {
    const { paths, cluster } = context;
    const { sha256, revision, hash, compactRevision } = await requireRecord(context);
    const result = await progress.wait('etcdutl to rebuild the database', () =>
      restoreSnapshot(restoreFile(context, SNAPSHOT_FILE), paths.etcdData, {
        ...accessTo(cluster.controlPlane).etcd.member,
        expected: { sha256, revision, history: { hash, compactRevision } },
        etcdutl: join(paths.binaries, 'etcdutl'),
        signal: progress.signal,
        deadlineMs: progress.remainingMs(),
      }),
    );
    return done(
      result === 'restored'
        ? `revision ${revision}, hash ${hash} verified`
        : 'this snapshot is already restored',
    );
  },
};
