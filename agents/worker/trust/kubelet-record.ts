import { z } from 'zod';
import { parseJson } from '../../../lib/base/json.ts';
import { recordPath } from '../../../lib/engine/agents/records.ts';
import { readTextIfReadable, removeFile, writeFileAtomic } from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';

const recordSchema = z.object({
  schemaVersion: z.literal(1),
  /** Of the CAs of the API server in the file of the kubelet (trustDigest). */
  digest: z.string(),
});

const path = (paths: HostPaths) => recordPath(paths, 'worker-trust');

/**
 * What the kubelet, which reads its CAs only when it starts, has read. Undefined: nobody knows, since they were replaced
 * and it has not been restarted since.
 */
export async function readByKubelet(paths: HostPaths): Promise<string | undefined> {
  const text = await readTextIfReadable(path(paths));
  return recordSchema.safeParse(parseJson(text ?? '')).data?.digest;
}

/** To be called when the kubelet has been started with them, or before its first start. */
export async function recordReadByKubelet(paths: HostPaths, digest: string): Promise<void> {
  const record: z.infer<typeof recordSchema> = { schemaVersion: 1, digest };
  await writeFileAtomic(path(paths), `${JSON.stringify(record)}\n`, 0o600);
}

/** To be called before the file is replaced: whoever is killed after that finds that a restart is missing. */
export async function forgetReadByKubelet(paths: HostPaths): Promise<void> {
  await removeFile(path(paths));
}
