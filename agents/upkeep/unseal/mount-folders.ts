import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { run } from '../../../lib/host/command.ts';
import { mountedType } from '../../../lib/host/mounted-type.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { SEALED_FOLDERS, sealPlaces } from '../../../lib/secrets/seal/places.ts';
import type { PlainHost } from '../../steps/host-context.ts';

/** Mounts the opened files in their places: the static pods and the agents find them where they always are. */
export const mountFolders: StepBody<PlainHost> = {
  name: 'mount-folders',
  leaves: `${SEALED_FOLDERS.join(' and ')}, in memory`,
  touches: ['disk'],
  input: ({ cluster }) => cluster.clusterId,
  holds: async ({ paths }) => (await unmounted(paths)).length === 0,
  async run({ paths }, progress) {
    for (const folder of await unmounted(paths)) {
      const place = paths.at(folder);
      await mkdir(place, { recursive: true, mode: 0o700 });
      const found = await readdir(place);
      // What is there is in the clear, and would only be hidden.
      if (found.length > 0) throw notEmpty(folder, found);
      const options = 'nosuid,nodev,noexec';
      const from = join(sealPlaces(paths).files, folder);
      await run('mount', ['--bind', '-o', options, from, place], {
        signal: progress.signal,
        deadlineMs: progress.remainingMs(),
      });
    }
    return done();
  },
};

async function unmounted(paths: HostPaths): Promise<string[]> {
  const found: string[] = [];
  for (const folder of SEALED_FOLDERS) {
    if ((await mountedType(paths, paths.at(folder))) !== 'ramfs') found.push(folder);
  }
  return found;
}

const notEmpty = (folder: string, found: readonly string[]): Failure =>
  new Failure('fatal', `${folder} has files that are not sealed`, {
    code: 'sealed-file-damaged',
    subject: folder,
    expected: 'an empty folder on the disk',
    found: found.toSorted().join(', '),
    fix: 'Find out who wrote them. Keys in the clear are not secret any more: replace them.',
  });
