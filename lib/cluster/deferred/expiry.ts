import { join } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../../base/json.ts';
import { DEFERRED_AGENT } from '../../engine/agents/table.ts';
import { readTextIfReadable, writeFileAtomic } from '../../host/files.ts';
import type { HostPaths } from '../../host/paths.ts';

const expirySchema = z.object({ expires: z.iso.datetime() });

/** The own state of the agent that applies deferred manifests: its journal, and its expiry if one was set. */
export const deferredState = ({ state }: Pick<HostPaths, 'state'>) => join(state, DEFERRED_AGENT);

const expiryPath = (paths: HostPaths) => join(deferredState(paths), 'expiry.json');

/** When deferred manifests expire, if that was set. A damaged file counts as none. */
export async function readOwnExpiry(paths: HostPaths): Promise<Date | undefined> {
  const own = await readTextIfReadable(expiryPath(paths));
  const parsed = expirySchema.safeParse(parseJson(own));
  return parsed.success ? new Date(parsed.data.expires) : undefined;
}

/** For later runs too. */
export async function writeExpiry(paths: HostPaths, expires: Date): Promise<void> {
  const text = `${JSON.stringify({ expires: expires.toISOString() })}\n`;
  await writeFileAtomic(expiryPath(paths), text, 0o644);
}
