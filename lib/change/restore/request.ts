import { join } from 'node:path';
import { z } from 'zod';
import { failureDataSchema } from '../../base/errors/failure-data.ts';
import type { HostPaths } from '../../host/paths.ts';
import { changeOnRequest } from '../change.ts';

const requestSchema = z.object({
  schemaVersion: z.literal(1),
  /** Name of the backup. */
  backup: z.string(),
  requestedAt: z.iso.datetime(),
  /** The host had no database, so there is none to put back. */
  replacedNothing: z.literal(true).optional(),
  /** Set when the restore failed: from then on, the database from before is put back. */
  failure: failureDataSchema.optional(),
});

/** A restore that is under way, also across restarts of the host; after its end with a failure if it was undone. */
export type RestoreRequest = z.infer<typeof requestSchema>;

/** State of the agent. */
export const restoreFolder = ({ state }: HostPaths) => join(state, 'sno-backup-restore');

export const restoreChange = changeOnRequest({
  records: { request: 'restore-request', result: 'restore' },
  request: requestSchema,
  result: requestSchema,
  writtenBy: 'sno-backup restore',
  underWay: 'a backup is being restored',
  status: 'sno-backup-restore status',
});

/** Records that there was no database to replace. */
export async function recordNothingReplaced(paths: HostPaths): Promise<void> {
  const request = await restoreChange.read(paths);
  if (request !== undefined) {
    await restoreChange.write(paths, { ...request, replacedNothing: true });
  }
}
