import { mkdir } from 'node:fs/promises';
import { z } from 'zod';
import { Failure } from '../../../lib/errors/failure.ts';
import { type FailureData, failureDataSchema } from '../../../lib/errors/failure-data.ts';
import { readTextIfPresent, removeFile, writeFileAtomic } from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { identitySchema } from '../../../lib/identity/identity.ts';
import { parseJson } from '../../../lib/json.ts';
import type { UsedVolume } from '../../../lib/site-volume/volume.ts';
import { reconfigureFolder, requestPath, resultPath, usedPath } from './places.ts';

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

/** @throws Failure (fatal) if the file is damaged. */
export async function readRequest(paths: HostPaths): Promise<ReconfigureRequest | undefined> {
  const text = await readTextIfPresent(requestPath(paths));
  if (text === undefined) return undefined;
  const parsed = requestSchema.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  throw new Failure('fatal', `${requestPath(paths)} cannot be used`, {
    expected: 'a request as "reconfigure run" writes it',
    found: z.prettifyError(parsed.error),
  });
}

export async function readResult(paths: HostPaths): Promise<ReconfigureResult | undefined> {
  return resultSchema.safeParse(parseJson((await readTextIfPresent(resultPath(paths))) ?? '')).data;
}

export async function writeRequest(paths: HostPaths, request: ReconfigureRequest): Promise<void> {
  await mkdir(reconfigureFolder(paths), { recursive: true, mode: 0o700 });
  await writeFileAtomic(requestPath(paths), `${JSON.stringify(request)}\n`, 0o600);
}

/** Records why it failed before anything was changed; the first reason is kept. */
export async function recordFailure(paths: HostPaths, failure: FailureData): Promise<void> {
  const request = await readRequest(paths);
  if (request === undefined || request.failure !== undefined) return;
  await writeRequest(paths, { ...request, failure });
}

/** Ends it. The result is written first: whoever waits for the end reads it. */
export async function endRequest(
  paths: HostPaths,
  outcome: ReconfigureResult['outcome'],
  failure: FailureData | undefined,
): Promise<void> {
  const request = await readRequest(paths);
  if (request === undefined) return;
  const result: ReconfigureResult = {
    ...request,
    ...(failure === undefined ? {} : { failure }),
    endedAt: new Date().toISOString(),
    outcome,
  };
  await writeFileAtomic(resultPath(paths), `${JSON.stringify(result)}\n`, 0o600);
  await removeFile(requestPath(paths));
}

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
