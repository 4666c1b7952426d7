import { join } from 'node:path';
import type { HostPaths } from '../../lib/host/paths.ts';
import type { PlainHost } from './host-context.ts';

/** The payload's folder on a medium with the layout of a live ISO. */
export const mediumPayload = ({ medium }: Pick<HostPaths, 'medium'>) => join(medium, 'payload');

/**
 * The payload's folder on the host that bootstraps: on the live medium, or in /var, where it is
 * downloaded to. A host without a disk to write keeps what it bootstraps with, so it has its own
 * copy of a medium's payload there.
 */
export function payloadFolder({ paths, cluster }: Pick<PlainHost, 'paths' | 'cluster'>): string {
  const isOnMedium = cluster.payloadUrl === undefined && cluster.installation !== undefined;
  return isOnMedium ? mediumPayload(paths) : paths.payload;
}
