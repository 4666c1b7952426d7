import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';
import type { HostPaths } from '../../host/paths.ts';
import { changeOnRequest } from '../change.ts';
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
export const identityStateFolder = ({ state }: Pick<HostPaths, 'state'>) =>
  join(state, 'sno-identity');

export const identityChange = changeOnRequest({
  records: { request: 'identity-request', result: 'identity' },
  request: requestSchema,
  result: requestSchema,
  writtenBy: 'sno-identity',
  underWay: 'the host is getting another name, address or domain',
  status: 'sno-identity status',
});

export async function requestIdentity(
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
  await identityChange.write(paths, request);
  return request;
}
