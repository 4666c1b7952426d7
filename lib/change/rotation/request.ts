import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';
import type { HostPaths } from '../../host/paths.ts';
import { authorityNames } from '../../render/kubernetes/authorities.ts';
import { changeOnRequest } from '../change.ts';

export const whatSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('authorities'), names: z.array(z.enum(authorityNames)).min(1) }),
  z.object({ kind: z.literal('service-account') }),
  z.object({ kind: z.literal('encryption') }),
]);

/** What is replaced: some authorities together, or one of the keys. */
export type What = z.infer<typeof whatSchema>;

const requestSchema = z.object({
  schemaVersion: z.literal(1),
  /** The steps of another request are done anew. */
  id: z.uuid(),
  at: z.iso.datetime(),
  what: whatSchema,
  /** Whether pods may be deleted that trust only the old authority of the API server. */
  restartWorkloads: z.boolean(),
});

/** A rotation that was asked for and has not ended. */
export type RotationRequest = z.infer<typeof requestSchema>;

/** Everything that a rotation keeps on the host until its end. */
export const rotationFolder = ({ state }: Pick<HostPaths, 'state'>) => join(state, 'sno-rotate');

const recordSchema = z.object({
  schemaVersion: z.literal(1),
  /** Of the request. */
  id: z.string(),
  requested: z.iso.datetime(),
  ended: z.iso.datetime(),
  what: whatSchema,
  /** What was restarted: programs of the control plane, the kubelet, sno-deferred. */
  restarted: z.array(z.string()),
});

/** The last rotation that ended. */
export type RotationRecord = z.infer<typeof recordSchema>;

export const rotationChange = changeOnRequest({
  records: { request: 'rotation-request', result: 'rotation' },
  request: requestSchema,
  result: recordSchema,
  writtenBy: 'sno-certificates',
  underWay: 'a rotation of CAs or keys is under way',
  status: 'sno-rotate status',
});

export async function requestRotation(
  paths: HostPaths,
  { what, restartWorkloads }: Pick<RotationRequest, 'what' | 'restartWorkloads'>,
): Promise<RotationRequest> {
  const request: RotationRequest = {
    schemaVersion: 1,
    id: randomUUID(),
    at: new Date().toISOString(),
    what,
    restartWorkloads,
  };
  await rotationChange.write(paths, request);
  return request;
}

/** Whether everything of a request is done, except for deleting what it kept. */
export const isRecorded = async (paths: HostPaths, { id }: RotationRequest): Promise<boolean> =>
  (await rotationChange.last(paths))?.id === id;

export const recordRotation = (
  paths: HostPaths,
  { id, at, what }: RotationRequest,
  restarted: string[],
): Promise<void> =>
  rotationChange.writeResult(paths, {
    schemaVersion: 1,
    id,
    requested: at,
    ended: new Date().toISOString(),
    what,
    restarted,
  });

/** As messages name it. */
export function describeWhat(what: What): string {
  if (what.kind === 'authorities') return `CA ${what.names.join(', ')}`;
  return what.kind === 'encryption' ? 'the encryption key' : 'the service account key';
}
