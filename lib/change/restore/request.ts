import { join } from 'node:path';
import { z } from 'zod';
import { Failure } from '../../base/errors/failure.ts';
import { type FailureData, failureDataSchema } from '../../base/errors/failure-data.ts';
import { parseJson } from '../../base/json.ts';
import { recordPath } from '../../engine/agents/records.ts';
import { readTextIfPresent, removeFile, writeFileAtomic } from '../../host/files.ts';
import type { HostPaths } from '../../host/paths.ts';

/** `request.json`: a restore that is under way, also across restarts of the host. */
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

export type RestoreRequest = z.infer<typeof requestSchema>;

/** State of the agent. */
export const restoreFolder = ({ state }: HostPaths) => join(state, 'sno-backup-restore');
/** The unit has the condition that this file exists; sno-backup and sno-renew, that it does not. */
export const requestPath = (paths: HostPaths) => recordPath(paths, 'restore-request');
/** The request after its end; with a failure if it was undone. */
const resultPath = (paths: HostPaths) => recordPath(paths, 'restore');

/** The restore under way, if there is one. @throws Failure (usage) for an unreadable request. */
export const readRequest = (paths: HostPaths) => read(requestPath(paths));
/** The last restore that ended. */
export const readResult = (paths: HostPaths) => read(resultPath(paths));

async function read(path: string): Promise<RestoreRequest | undefined> {
  const text = await readTextIfPresent(path);
  if (text === undefined) return undefined;
  const parsed = requestSchema.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  throw new Failure('usage', `${path} cannot be used`, { found: z.prettifyError(parsed.error) });
}

export const writeRequest = (paths: HostPaths, request: RestoreRequest) =>
  write(requestPath(paths), request);

const write = (path: string, request: RestoreRequest) =>
  writeFileAtomic(path, `${JSON.stringify(request)}\n`, 0o600);

/** Records why the restore failed; the first reason is kept. */
export async function recordFailure(paths: HostPaths, failure: FailureData): Promise<void> {
  const request = await readRequest(paths);
  if (request === undefined || request.failure !== undefined) return;
  await writeRequest(paths, { ...request, failure });
}

/** Records that there was no database to replace. */
export async function recordNothingReplaced(paths: HostPaths): Promise<void> {
  const request = await readRequest(paths);
  if (request !== undefined) await writeRequest(paths, { ...request, replacedNothing: true });
}

/** Ends the restore. The result is written first: whoever waits for the end reads it. */
export async function endRequest(paths: HostPaths): Promise<void> {
  const request = await readRequest(paths);
  if (request === undefined) return;
  await write(resultPath(paths), request);
  await removeFile(requestPath(paths));
}
