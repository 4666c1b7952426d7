import { z } from 'zod';
import { failureDataSchema } from '../../base/errors/failure-data.ts';
import type { HostPaths } from '../../host/paths.ts';
import { stateFile } from '../../host/state-file.ts';
import { changeOnRequest } from '../change.ts';
import { identitySchema } from '../identity/identity.ts';
import { usedPath } from './places.ts';
import type { UsedVolume } from './used-volume.ts';

const volumeSchema = z.object({ serial: z.number(), sha256: z.string() });

const requestSchema = z.object({
  schemaVersion: z.literal(1),
  /** Also that of the trial. The steps of another request are done anew. */
  id: z.uuid(),
  at: z.iso.datetime(),
  volume: volumeSchema,
  /** By what the host was known when the volume was accepted. */
  from: identitySchema,
  /** The id of the last update that the host had had by then, if any. */
  afterUpdate: z.uuid().optional(),
  /** Why it failed before anything was changed. */
  failure: failureDataSchema.optional(),
});

/** A site's configuration that was accepted and is not in use yet. */
export type ReconfigureRequest = z.infer<typeof requestSchema>;

const resultSchema = requestSchema.extend({
  endedAt: z.iso.datetime(),
  outcome: z.enum(['configured', 'refused', 'reverted']),
});

/** How the last one ended. `refused`: it failed before anything was changed. */
export type ReconfigureResult = z.infer<typeof resultSchema>;

export const siteChange = changeOnRequest({
  records: { request: 'reconfigure-request', result: 'reconfigure' },
  request: requestSchema,
  result: resultSchema,
  writtenBy: 'reconfigure run',
  underWay: 'the host is getting the configuration of its site',
  status: 'reconfigure status',
});

const usedFile = (paths: HostPaths) =>
  stateFile(usedPath(paths), z.array(volumeSchema), {
    folderMode: 0o700,
    damaged: {
      expected: 'the list of the volumes that this host has used',
      fix: 'Restore the file from a copy of this disk. Without it an old volume could be used again.',
    },
  });

/** The volumes that this host has used: none of them, and none older, is used again for something else. */
export const usedVolumes = async (paths: HostPaths): Promise<UsedVolume[]> =>
  (await usedFile(paths).read()) ?? [];

export async function recordUse(paths: HostPaths, use: UsedVolume): Promise<void> {
  const used = await usedVolumes(paths);
  if (used.some(({ sha256 }) => sha256 === use.sha256)) return;
  await usedFile(paths).write([...used, use]);
}
