import { z } from 'zod';
import { recordPath } from '../../../lib/engine/agents/records.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { stateFile } from '../../../lib/host/state-file.ts';

const recordSchema = z.object({
  schemaVersion: z.literal(1),
  /** Of the CAs of the API server in the file of the kubelet (trustDigest). */
  digest: z.string(),
});

const file = (paths: HostPaths) =>
  stateFile(recordPath(paths, 'worker-trust'), recordSchema, { damaged: 'none' });

/**
 * What the kubelet, which reads its CAs only when it starts, has read. Undefined: nobody knows, since they were replaced
 * and it has not been restarted since.
 */
export async function readByKubelet(paths: HostPaths): Promise<string | undefined> {
  return (await file(paths).read())?.digest;
}

/** To be called when the kubelet has been started with them, or before its first start. */
export async function recordReadByKubelet(paths: HostPaths, digest: string): Promise<void> {
  await file(paths).write({ schemaVersion: 1, digest });
}

/** To be called before the file is replaced: whoever is killed after that finds that a restart is missing. */
export async function forgetReadByKubelet(paths: HostPaths): Promise<void> {
  await file(paths).remove();
}
