import { join } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../../../lib/base/json.ts';
import { rotationFolder } from '../../../lib/change/rotation/request.ts';
import { readTextIfReadable, removeFile, writeFileAtomic } from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { PHASES, type Phase } from '../../steps/certificates/changes.ts';

const restartsSchema = z.object({
  /** Of the request. */
  id: z.string(),
  restarts: z.array(z.object({ phase: z.enum(PHASES), name: z.string() })),
});

type Restart = z.infer<typeof restartsSchema>['restarts'][number];

const restartsPath = (paths: HostPaths) => join(rotationFolder(paths), 'restarted.json');

async function readRestarts(paths: HostPaths, id: string): Promise<Restart[]> {
  const text = await readTextIfReadable(restartsPath(paths));
  const parsed = restartsSchema.safeParse(parseJson(text ?? ''));
  return parsed.success && parsed.data.id === id ? parsed.data.restarts : [];
}

/** Records that something is about to be restarted, so that a kill before or after it does not hide it. */
export async function addRestart(
  paths: HostPaths,
  id: string,
  phase: Phase,
  name: string,
): Promise<void> {
  const restarts = [...(await readRestarts(paths, id)), { phase, name }];
  await writeFileAtomic(restartsPath(paths), `${JSON.stringify({ id, restarts })}\n`, 0o600);
}

/** What was restarted for a request, in one phase or in all: each name once, sorted. */
export async function restartedFor(paths: HostPaths, id: string, only?: Phase): Promise<string[]> {
  const restarts = await readRestarts(paths, id);
  const names = restarts.flatMap(({ phase, name }) =>
    only === undefined || phase === only ? [name] : [],
  );
  return [...new Set(names)].toSorted();
}

export async function dropRestarts(paths: HostPaths): Promise<void> {
  await removeFile(restartsPath(paths));
}
