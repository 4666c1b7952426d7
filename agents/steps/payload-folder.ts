import { join } from 'node:path';
import type { HostPaths } from '../../lib/host/paths.ts';
import { readPayload } from '../../lib/payload/payload.ts';
import { isCompressed } from '../../lib/payload/verify.ts';
import type { PlainHost } from './host-context.ts';

/** The payload's folder on a medium with the layout of a live ISO. */
export const mediumPayload = ({ medium }: Pick<HostPaths, 'medium'>) => join(medium, 'payload');

/**
 * The folder of payload.yaml on the host that bootstraps: on the live medium, or in /var, where it is
 * downloaded to. A host without a disk to write keeps what it bootstraps with, so it has its own
 * copy of a medium's payload there.
 */
export function payloadFolder({ paths, cluster }: Pick<PlainHost, 'paths' | 'cluster'>): string {
  const isOnMedium = cluster.payloadUrl === undefined && cluster.installation !== undefined;
  return isOnMedium ? mediumPayload(paths) : paths.payload;
}

/**
 * The folder with the payload's files as they are used. A live host needs its own copy of what its medium has compressed.
 * @throws Failure (usage) if the medium has no payload, or a faulty description of it
 */
export async function usedPayloadFolder(
  context: Pick<PlainHost, 'paths' | 'cluster'>,
): Promise<string> {
  const folder = payloadFolder(context);
  if (folder === context.paths.payload) return folder;
  return isCompressed(await readPayload(folder)) ? context.paths.payload : folder;
}
