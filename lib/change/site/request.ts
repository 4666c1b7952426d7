import { mkdir } from 'node:fs/promises';
import { z } from 'zod';
import { Failure } from '../../base/errors/failure.ts';
import { failureDataSchema } from '../../base/errors/failure-data.ts';
import { parseJson } from '../../base/json.ts';
import { readTextIfPresent, writeFileAtomic } from '../../host/files.ts';
import type { HostPaths } from '../../host/paths.ts';
import { changeOnRequest } from '../change.ts';
import { identitySchema } from '../identity/identity.ts';
import { reconfigureFolder, usedPath } from './places.ts';
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

/** The volumes that this host has used: none of them, and none older, is used again for something else. */
export async function usedVolumes(paths: HostPaths): Promise<UsedVolume[]> {
  const text = await readTextIfPresent(usedPath(paths));
  if (text === undefined) return [];
  const parsed = z.array(volumeSchema).safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  throw new Failure('fatal', `${usedPath(paths)} cannot be used`, {
    expected: 'the list of the volumes that this host has used',
    found: z.prettifyError(parsed.error),
  });
}

export async function recordUse(paths: HostPaths, use: UsedVolume): Promise<void> {
  const used = await usedVolumes(paths);
  if (used.some(({ sha256 }) => sha256 === use.sha256)) return;
  await mkdir(reconfigureFolder(paths), { recursive: true, mode: 0o700 });
  await writeFileAtomic(usedPath(paths), `${JSON.stringify([...used, use])}\n`, 0o600);
}
