import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../lib/engine/steps/within.ts';
import { ifMissing, writeFileAtomic } from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { unsealed } from '../../../lib/secrets/seal/envelope.ts';
import { damaged, sealKey } from '../../../lib/secrets/seal/files.ts';
import { SEALED_FOLDERS, sealPlaces } from '../../../lib/secrets/seal/places.ts';
import type { PlainHost } from '../../steps/host-context.ts';

/** Left by a process that was killed while it wrote a file (lib/host/files.ts). */
const UNFINISHED = /^\..+\.[0-9a-f]{8}\.new$/;

/** Opens every sealed file into memory. They appear in their places later, all at once. */
export const unsealFiles: StepBody<PlainHost> = {
  name: 'unseal-files',
  leaves: 'every sealed file in /run/sno-agents/sealed/files',
  touches: ['disk'],
  input: ({ cluster }) => cluster.clusterId,
  async holds({ paths }) {
    for (const { place, contents } of (await openedFiles(paths)).files) {
      const present = await readFile(place).catch(ifMissing);
      if (present?.equals(contents) !== true) return false;
    }
    return true;
  },
  async run({ paths }) {
    const { folders, files } = await openedFiles(paths);
    for (const { place, mode } of folders) await mkdir(place, { recursive: true, mode });
    for (const { place, mode, contents } of files) await writeFileAtomic(place, contents, mode);
    return done(`${files.length} files`);
  },
};

interface InMemory {
  /** Its path in memory. */
  readonly place: string;
  readonly mode: number;
}

/** What is in the sealed folders, opened. @throws Failure (fatal, `sealed-file-damaged`) */
async function openedFiles(paths: HostPaths) {
  const key = await sealKey(paths);
  if (key === undefined) throw new Failure('bug', 'the key is not open');
  const { copies, files: memory } = sealPlaces(paths);
  for (const folder of SEALED_FOLDERS) {
    await mkdir(join(copies, folder), { recursive: true, mode: 0o700 });
  }
  const folders: InMemory[] = [];
  const files: (InMemory & { readonly contents: Buffer })[] = [];
  for (const entry of await readdir(copies, { recursive: true, withFileTypes: true })) {
    const copy = join(entry.parentPath, entry.name);
    const path = `/${relative(copies, copy)}`;
    if (UNFINISHED.test(entry.name)) {
      await rm(copy);
      continue;
    }
    const opened = { place: join(memory, path), mode: (await stat(copy)).mode & 0o777 };
    if (entry.isDirectory()) {
      folders.push(opened);
    } else {
      const contents = unsealed(key, path, await readFile(copy));
      if (contents === undefined) throw damaged(paths.onHost(copy));
      files.push({ ...opened, contents });
    }
  }
  return { folders, files };
}
