import { join } from 'node:path';
import { exists } from '../../lib/host/files.ts';
import { readProgram } from '../../lib/payload/elf/elf.ts';
import { readImageArchive } from '../../lib/payload/image/archive.ts';
import { type Payload, type PayloadImage, payloadFile } from '../../lib/payload/payload.ts';
import { storedFile } from '../../lib/payload/verify.ts';
import { programInImage } from './image-program.ts';
import { noting } from './noting.ts';
import { withPlainFile } from './plain-file.ts';
import {
  programStatement,
  releaseIn,
  type Statement,
  subjectOfImage,
  tagStatement,
} from './statements.ts';

/** Where payload.yaml states another version than a program on the host or a tag: without reading any image. */
export async function statedVersionFaults(
  payload: Payload,
  signal: AbortSignal,
): Promise<string[]> {
  const { images, binaries, directory } = payload;
  const statements = images.flatMap(({ name, reference }) => tagStatement(name, reference));
  for (const binary of binaries) {
    const { name, kind, file } = binary;
    const described = { ...binary, path: file };
    // A host fetches it from elsewhere if the folder has the description only.
    if (kind !== 'host' || !(await exists(join(directory, storedFile(described).path)))) continue;
    const read = (path: string) => readProgram(path, file);
    const program = await withPlainFile(payload, described, signal, read);
    statements.push(...programStatement({ kind: 'binary', name }, program));
  }
  return contradictions(payload, statements);
}

/** The same, and the programs in the images: a second or two for each. */
export async function versionFaults(payload: Payload, signal: AbortSignal): Promise<string[]> {
  const faults = await statedVersionFaults(payload, signal);
  for (const image of payload.images) {
    if (subjectOfImage(image.name) === undefined) continue;
    await noting(faults, image.archive, signal, async () => {
      faults.push(...contradictions(payload, await imageStatement(payload, image, signal)));
    });
  }
  return faults;
}

async function imageStatement(
  payload: Payload,
  image: PayloadImage,
  signal: AbortSignal,
): Promise<Statement[]> {
  const { name, archive, id } = image;
  return withPlainFile(payload, { ...image, path: archive }, signal, async (path) => {
    const { images } = await readImageArchive(path, signal);
    const archived = images.find((each) => each.id === id);
    const program = archived && (await programInImage(path, archived, name, signal));
    return program === undefined ? [] : programStatement({ kind: 'image', name }, program);
  });
}

function contradictions({ versions }: Payload, statements: readonly Statement[]): string[] {
  return statements
    .filter(({ key, version }) => version !== releaseIn(versions[key]))
    .map(
      ({ key, label, version }) =>
        `${payloadFile}: states ${key} ${versions[key]}, but ${label} is ${version}`,
    );
}
