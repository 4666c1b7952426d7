import { join } from 'node:path';
import { z } from 'zod';
import { rotationFolder } from '../../../lib/change/rotation/request.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { stateFile } from '../../../lib/host/state-file.ts';
import { PHASES, type Phase } from '../../steps/certificates/changes.ts';

const restartsSchema = z.object({
  /** Of the request. */
  id: z.string(),
  restarts: z.array(z.object({ phase: z.enum(PHASES), name: z.string() })),
});

type Restart = z.infer<typeof restartsSchema>['restarts'][number];

const file = (paths: HostPaths) =>
  stateFile(join(rotationFolder(paths), 'restarted.json'), restartsSchema, { damaged: 'none' });

async function readRestarts(paths: HostPaths, id: string): Promise<Restart[]> {
  const kept = await file(paths).read();
  return kept?.id === id ? kept.restarts : [];
}

/** Records that something is about to be restarted, so that a kill before or after it does not hide it. */
export async function addRestart(
  paths: HostPaths,
  id: string,
  phase: Phase,
  name: string,
): Promise<void> {
  const restarts = [...(await readRestarts(paths, id)), { phase, name }];
  await file(paths).write({ id, restarts });
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
  await file(paths).remove();
}
