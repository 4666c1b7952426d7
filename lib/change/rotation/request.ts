import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';
import { Failure } from '../../base/errors/failure.ts';
import { parseJson } from '../../base/json.ts';
import { recordPath } from '../../engine/agents/records.ts';
import { readTextIfPresent, writeFileAtomic } from '../../host/files.ts';
import type { HostPaths } from '../../host/paths.ts';
import { authorityNames } from '../../render/kubernetes/authorities.ts';

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

/** The unit has the condition that this file exists; sno-backup and sno-renew, that it does not. */
export const requestPath = (paths: Pick<HostPaths, 'state'>) =>
  recordPath(paths, 'rotation-request');

/** @throws Failure (fatal) if the file is damaged. */
export async function readRequest(paths: HostPaths): Promise<RotationRequest | undefined> {
  const text = await readTextIfPresent(requestPath(paths));
  if (text === undefined) return undefined;
  const parsed = requestSchema.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  throw new Failure('fatal', `${requestPath(paths)} cannot be used`, {
    expected: 'a request as sno-certificates writes it',
    found: z.prettifyError(parsed.error),
  });
}

export async function writeRequest(
  paths: HostPaths,
  { what, restartWorkloads }: Pick<RotationRequest, 'what' | 'restartWorkloads'>,
): Promise<void> {
  const request: RotationRequest = {
    schemaVersion: 1,
    id: randomUUID(),
    at: new Date().toISOString(),
    what,
    restartWorkloads,
  };
  await writeFileAtomic(requestPath(paths), `${JSON.stringify(request, null, 2)}\n`, 0o600);
}

/** As messages name it. */
export function describeWhat(what: What): string {
  if (what.kind === 'authorities') return `CA ${what.names.join(', ')}`;
  return what.kind === 'encryption' ? 'the encryption key' : 'the service account key';
}
