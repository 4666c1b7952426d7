import { join } from 'node:path';
import { z } from 'zod';
import { DEFERRED_AGENT } from '../../engine/agents/table.ts';
import type { HostPaths } from '../../host/paths.ts';
import { stateFile } from '../../host/state-file.ts';

const expirySchema = z.object({ expires: z.iso.datetime() });

/** The own state of the agent that applies deferred manifests: its journal, and its expiry if one was set. */
export const deferredState = ({ state }: Pick<HostPaths, 'state'>) => join(state, DEFERRED_AGENT);

const file = (paths: HostPaths) =>
  stateFile(join(deferredState(paths), 'expiry.json'), expirySchema, {
    damaged: 'none',
    mode: 0o644,
  });

/** When deferred manifests expire, if that was set. A damaged file counts as none. */
export async function readOwnExpiry(paths: HostPaths): Promise<Date | undefined> {
  const own = await file(paths).read();
  return own === undefined ? undefined : new Date(own.expires);
}

/** For later runs too. */
export const writeExpiry = (paths: HostPaths, expires: Date): Promise<void> =>
  file(paths).write({ expires: expires.toISOString() });
