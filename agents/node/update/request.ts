import { join } from 'node:path';
import { z } from 'zod';
import { Failure } from '../../../lib/errors/failure.ts';
import { type FailureData, failureDataSchema } from '../../../lib/errors/failure-data.ts';
import { readTextIfPresent, removeFile, writeFileAtomic } from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { parseJson } from '../../../lib/json.ts';
import { updateManifestSchema } from '../../../lib/update/manifest.ts';

const requestSchema = z.object({
  schemaVersion: z.literal(1),
  /** Also of its trial. */
  id: z.uuid(),
  at: z.iso.datetime(),
  /** A folder of this host or a URL. */
  from: z.string(),
  /** Its signature was verified. */
  manifest: updateManifestSchema,
  /** Fingerprint of the key that signed it. */
  signedBy: z.string(),
  /** Why it failed before anything was changed. */
  failure: failureDataSchema.optional(),
});

/** An update that was asked for and has not ended. */
export type UpdateRequest = z.infer<typeof requestSchema>;

const resultSchema = requestSchema.extend({
  endedAt: z.iso.datetime(),
  outcome: z.enum(['updated', 'refused', 'reverted']),
});

/** How the last update ended. `refused`: it failed before anything was changed. */
export type UpdateResult = z.infer<typeof resultSchema>;

/** Everything that an update keeps on the host until its end. */
export const updateFolder = ({ state }: Pick<HostPaths, 'state'>) => join(state, 'sno-update');
/** The unit has the condition that this file exists. */
export const requestPath = (paths: Pick<HostPaths, 'state'>) =>
  join(updateFolder(paths), 'request.json');
const resultPath = (paths: HostPaths) => join(updateFolder(paths), 'result.json');

/** @throws Failure (fatal) if the file is damaged. */
export async function readRequest(paths: HostPaths): Promise<UpdateRequest | undefined> {
  const text = await readTextIfPresent(requestPath(paths));
  if (text === undefined) return undefined;
  const parsed = requestSchema.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  throw new Failure('fatal', `${requestPath(paths)} cannot be used`, {
    expected: 'a request as "sno-update run --from" writes it',
    found: z.prettifyError(parsed.error),
  });
}

/** The last update that ended. */
export async function readResult(paths: HostPaths): Promise<UpdateResult | undefined> {
  const text = await readTextIfPresent(resultPath(paths));
  return resultSchema.safeParse(parseJson(text ?? '')).data;
}

export const writeRequest = (paths: HostPaths, request: UpdateRequest) =>
  writeFileAtomic(requestPath(paths), `${JSON.stringify(request)}\n`, 0o600);

/** Records why the update failed before anything was changed; the first reason is kept. */
export async function recordFailure(paths: HostPaths, failure: FailureData): Promise<void> {
  const request = await readRequest(paths);
  if (request === undefined || request.failure !== undefined) return;
  await writeRequest(paths, { ...request, failure });
}

/** Ends the update. The result is written first: whoever waits for the end reads it. */
export async function endRequest(
  paths: HostPaths,
  outcome: UpdateResult['outcome'],
  failure: FailureData | undefined,
): Promise<void> {
  const request = await readRequest(paths);
  if (request === undefined) return;
  const result: UpdateResult = {
    ...request,
    ...(failure === undefined ? {} : { failure }),
    endedAt: new Date().toISOString(),
    outcome,
  };
  await writeFileAtomic(resultPath(paths), `${JSON.stringify(result)}\n`, 0o600);
  await removeFile(requestPath(paths));
}
