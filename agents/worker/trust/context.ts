import { randomUUID } from 'node:crypto';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { type PlainHost, plainHost } from '../../steps/host-context.ts';

/** A worker, and an id of this run: what the cluster publishes may have changed since the last one. */
export interface TrustContext extends PlainHost {
  readonly run: string;
}

/** @throws Failure (usage) if cluster.json is invalid. */
export async function trustContext(paths: HostPaths): Promise<TrustContext> {
  return { ...(await plainHost(paths)), run: randomUUID() };
}
