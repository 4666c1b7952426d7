import { join } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../../../lib/base/json.ts';
import type { AllowedWorker } from '../../../lib/cluster/workers/entry.ts';
import { readTextIfReadable, sha256, writeFileAtomic } from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';

const joinedSchema = z.object({
  schemaVersion: z.literal(1),
  /** SHA-256 of the entries whose worker has got all its certificates. */
  entries: z.array(z.string()),
});

const joinedPath = ({ state }: HostPaths) => join(state, 'sno-approve', 'joined.json');

/** A changed entry is another one: its worker is expected again. */
const idOf = (worker: AllowedWorker): string => sha256(JSON.stringify(worker));

/** The workers of the list that have not joined yet and still may. */
export async function expectedOf(
  paths: HostPaths,
  workers: readonly AllowedWorker[],
  now: Date,
): Promise<AllowedWorker[]> {
  const joined = await readJoined(paths);
  return workers.filter((worker) => now < worker.expires && !joined.includes(idOf(worker)));
}

/** Records that a worker has joined; entries that are not in the list any more are forgotten. */
export async function recordJoined(
  paths: HostPaths,
  workers: readonly AllowedWorker[],
  name: string,
): Promise<void> {
  const joined = await readJoined(paths);
  const entries = workers
    .filter((worker) => worker.name === name || joined.includes(idOf(worker)))
    .map(idOf);
  const contents = { schemaVersion: 1, entries };
  await writeFileAtomic(joinedPath(paths), `${JSON.stringify(contents)}\n`, 0o600);
}

/** A damaged file counts as none: the workers are expected until their entries expire. */
async function readJoined(paths: HostPaths): Promise<readonly string[]> {
  const parsed = joinedSchema.safeParse(parseJson(await readTextIfReadable(joinedPath(paths))));
  return parsed.success ? parsed.data.entries : [];
}
