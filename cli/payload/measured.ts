import { join } from 'node:path';
import { exists } from '../../lib/host/files.ts';
import { readProgram } from '../../lib/payload/elf/elf.ts';
import { readImageArchive } from '../../lib/payload/image/archive.ts';
import {
  type Payload,
  type PayloadImage,
  payloadFile,
  payloadPath,
} from '../../lib/payload/payload.ts';
import { programInImage } from './image-program.ts';
import { noting } from './noting.ts';
import {
  programStatement,
  releaseIn,
  type Statement,
  subjectOfImage,
  tagStatement,
} from './statements.ts';

/** Where payload.yaml states another version than a program on the host or a tag: without reading any image. */
export async function statedVersionFaults(payload: Payload): Promise<string[]> {
  const { images, binaries, directory } = payload;
  const statements = images.flatMap(({ name, reference }) => tagStatement(name, reference));
  for (const { name, kind, file } of binaries) {
    // A host fetches it from elsewhere if the folder has the description only.
    if (kind !== 'host' || !(await exists(join(directory, file)))) continue;
    const program = await readProgram(await payloadPath(payload, file), file);
    statements.push(...programStatement({ kind: 'binary', name }, program));
  }
  return contradictions(payload, statements);
}

/** The same, and the programs in the images: a second or two for each. */
export async function versionFaults(payload: Payload, signal: AbortSignal): Promise<string[]> {
  const faults = await statedVersionFaults(payload);
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
  { name, archive, id }: PayloadImage,
  signal: AbortSignal,
): Promise<Statement[]> {
  const path = await payloadPath(payload, archive);
  const { images } = await readImageArchive(path, signal);
  const image = images.find((each) => each.id === id);
  const program = image && (await programInImage(path, image, name, signal));
  return program === undefined ? [] : programStatement({ kind: 'image', name }, program);
}

function contradictions({ versions }: Payload, statements: readonly Statement[]): string[] {
  return statements
    .filter(({ key, version }) => version !== releaseIn(versions[key]))
    .map(
      ({ key, label, version }) =>
        `${payloadFile}: states ${key} ${versions[key]}, but ${label} is ${version}`,
    );
}
