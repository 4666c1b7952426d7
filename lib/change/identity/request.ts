import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';
import { Failure } from '../../base/errors/failure.ts';
import { parseJson } from '../../base/json.ts';
import { recordPath } from '../../engine/agents/records.ts';
import { readTextIfPresent, removeFile, writeFileAtomic } from '../../host/files.ts';
import type { HostPaths } from '../../host/paths.ts';
import { identitySchema } from './identity.ts';

const requestSchema = z.object({
  schemaVersion: z.literal(1),
  /** The steps of another request are done anew. */
  id: z.uuid(),
  at: z.iso.datetime(),
  /** What the objects of the cluster are named by, until they are changed. */
  from: identitySchema,
  to: identitySchema,
  /** The backup of a lost host, whose database replaces that of this host. */
  backup: z.string().optional(),
  /** With that backup: the host takes over the authorities of the lost one. */
  keepsAuthorities: z.literal(true).optional(),
  /** The host has begun it by itself, since its address had moved (`onAddressChange: follow`). */
  isFollowing: z.literal(true).optional(),
  /** Whoever asked for it waits until nothing changes, for longer: here everything only has to run. */
  settlesLater: z.literal(true).optional(),
});

/** A change of the identity that was asked for and has not ended. */
export type IdentityRequest = z.infer<typeof requestSchema>;

/** Everything that a change keeps on the host until its end. */
export const identityFolder = ({ state }: Pick<HostPaths, 'state'>) => join(state, 'sno-identity');

/** The unit has the condition that this file exists; sno-backup and sno-renew, that it does not. */
export const requestPath = (paths: Pick<HostPaths, 'state'>) =>
  recordPath(paths, 'identity-request');
/** The last change that ended. */
export const lastPath = (paths: Pick<HostPaths, 'state'>) => recordPath(paths, 'identity');

/** The change under way. @throws Failure (fatal) if the file is damaged. */
export const readRequest = (paths: HostPaths) => read(requestPath(paths));
/** The last change that ended. */
export const readLast = (paths: HostPaths) => read(lastPath(paths));

async function read(path: string): Promise<IdentityRequest | undefined> {
  const text = await readTextIfPresent(path);
  if (text === undefined) return undefined;
  const parsed = requestSchema.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  throw new Failure('fatal', `${path} cannot be used`, {
    expected: 'a request as sno-identity writes it',
    found: z.prettifyError(parsed.error),
  });
}

export async function writeRequest(
  paths: HostPaths,
  {
    from,
    to,
    backup,
    keepsAuthorities,
    isFollowing,
    settlesLater,
  }: Omit<IdentityRequest, 'schemaVersion' | 'id' | 'at'>,
): Promise<IdentityRequest> {
  const request: IdentityRequest = {
    schemaVersion: 1,
    id: randomUUID(),
    at: new Date().toISOString(),
    from,
    to,
    ...(backup === undefined ? {} : { backup }),
    ...(keepsAuthorities === undefined ? {} : { keepsAuthorities }),
    ...(isFollowing === undefined ? {} : { isFollowing }),
    ...(settlesLater === undefined ? {} : { settlesLater }),
  };
  await saveRequest(requestPath(paths), request);
  return request;
}

export const saveRequest = (path: string, request: IdentityRequest) =>
  writeFileAtomic(path, `${JSON.stringify(request, null, 2)}\n`, 0o600);

/** Ends the change. The record is written first: whoever waits for the end reads it. */
export async function endRequest(paths: HostPaths): Promise<void> {
  const request = await readRequest(paths);
  if (request === undefined) return;
  await saveRequest(lastPath(paths), request);
  await removeFile(requestPath(paths));
}

/** Ends a change that holds nothing back (`isHeld`), without a record: nothing was changed, or everything was. */
export async function withdrawRequest(paths: HostPaths): Promise<void> {
  await removeFile(requestPath(paths));
}
