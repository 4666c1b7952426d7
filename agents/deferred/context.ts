import type { RunOptions } from '../../lib/engine/steps/agent-command.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import { type HostContext, hostContext } from '../steps/host-context.ts';
import { readExpiry, setExpiry } from './expiry.ts';

export interface DeferredContext extends HostContext {
  /** When manifests that are still waiting expire. */
  readonly expires: Date;
}

export async function deferredContext(
  paths: HostPaths,
  { expiresInHours }: RunOptions,
): Promise<DeferredContext> {
  const context = await hostContext(paths);
  const { settings } = context;
  if (expiresInHours !== undefined) await setExpiry(paths, settings, expiresInHours);
  return { ...context, expires: await readExpiry(paths, settings) };
}
