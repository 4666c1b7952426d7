import { join } from 'node:path';
import type { HostContext } from './host-context.ts';

/** The payload's folder on a live host: on the live medium, or where it is downloaded to. */
export function payloadFolder({ paths, cluster }: Pick<HostContext, 'paths' | 'cluster'>): string {
  return cluster.payloadUrl === undefined ? join(paths.medium, 'payload') : paths.payload;
}
