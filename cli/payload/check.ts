import { lstat, readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import { sha256OfFiles, sha256OfStream } from '../../lib/host/digests.ts';
import { readProgram } from '../../lib/payload/elf/elf.ts';
import { readImageArchive, readLayers } from '../../lib/payload/image/archive.ts';
import type { ArchivedImage } from '../../lib/payload/image/contents.ts';
import {
  type Payload,
  type PayloadBinary,
  type PayloadImage,
  payloadFile,
  payloadPath,
} from '../../lib/payload/payload.ts';
import { requiredBinaries, requiredImages } from '../../lib/payload/required.ts';
import { payloadFiles, storedFile, storedFiles } from '../../lib/payload/verify.ts';
import { noting } from './noting.ts';
import { withPlainFile } from './plain-file.ts';
import { expectProgram } from './program-name.ts';

/**
 * Every fault of a payload's folder: missing, damaged or unlisted files, archives
 * that do not contain their complete image, programs of another architecture,
 * required parts that the description lacks. Empty if there is none.
 */
export async function payloadFaults(payload: Payload, signal: AbortSignal): Promise<string[]> {
  const faults = missingParts(payload);
  await notePresence(payload, faults, signal);
  const whole = await wholeFiles(payload, faults, signal);
  for (const image of payload.images.filter(({ archive }) => whole.has(archive))) {
    await noting(faults, image.archive, signal, () =>
      withPlainFile(payload, { ...image, path: image.archive }, signal, (path) =>
        expectImage(payload, image, path, signal),
      ),
    );
  }
  for (const binary of payload.binaries.filter(({ file }) => whole.has(file))) {
    await noting(faults, binary.file, signal, () =>
      withPlainFile(payload, { ...binary, path: binary.file }, signal, (path) =>
        expectBinary(payload, binary, path),
      ),
    );
  }
  return faults;
}

function missingParts({ images, binaries }: Payload): string[] {
  const has = (list: readonly { name: string }[], wanted: string) =>
    list.some(({ name }) => name === wanted);
  return [
    ...requiredImages.filter((name) => !has(images, name)).map((name) => `image ${name}`),
    ...requiredBinaries.filter((name) => !has(binaries, name)).map((name) => `binary ${name}`),
  ].map((part) => `${payloadFile} has no ${part}`);
}

/** A folder for one host has a few dozen; more is not a payload. */
const MAX_FILES = 10_000;

/** Notes files in the folder that its description does not list. */
async function notePresence(
  payload: Payload,
  faults: string[],
  signal: AbortSignal,
): Promise<void> {
  const { directory } = payload;
  const named = new Set([payloadFile, ...storedFiles(payload).map(({ path }) => path)]);
  const found = await readdir(directory, { recursive: true, withFileTypes: true });
  signal.throwIfAborted();
  if (found.length > MAX_FILES)
    throw new Failure('usage', `${directory} is not a payload`, { found: `${found.length} files` });
  for (const entry of found) {
    const path = relative(directory, join(entry.parentPath, entry.name));
    if (!entry.isDirectory() && !named.has(path)) {
      faults.push(`${path}: not listed in ${payloadFile}`);
    }
  }
}

/** The files that exist with the size and digest in the description, by their paths on hosts. */
async function wholeFiles(
  payload: Payload,
  faults: string[],
  signal: AbortSignal,
): Promise<Set<string>> {
  const paths = new Map<string, string>();
  const described = payloadFiles(payload);
  for (const file of described) {
    const { path, size } = storedFile(file);
    await noting(faults, path, signal, async () => {
      const absolute = await payloadPath(payload, path);
      const found = (await lstat(absolute)).size;
      if (found !== size) throw differs('another size', `${size} bytes`, `${found}`);
      paths.set(path, absolute);
    });
  }
  const digests = await sha256OfFiles([...paths.values()], signal);
  const whole = new Set<string>();
  for (const file of described) {
    const { path, sha256 } = storedFile(file);
    const absolute = paths.get(path);
    if (absolute === undefined) continue;
    const found = digests.get(absolute);
    if (found === sha256) whole.add(file.path);
    else faults.push(`${path}: expected SHA-256 ${sha256}; found ${found}`);
  }
  return whole;
}

async function expectImage(
  { architecture }: Payload,
  { reference, id }: PayloadImage,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  const { format, compression, images } = await readImageArchive(path, signal);
  const form = `${format}, compression ${compression}`;
  if (form !== 'docker, compression none') {
    const expected = 'a docker archive, not compressed';
    throw differs('not an archive that every runtime imports', expected, form);
  }
  const image = images.find(({ references }) => references.includes(reference));
  const names = images.flatMap(({ references }) => references).join(', ') || 'no name';
  if (image === undefined) throw differs('another image', reference, names);
  if (image.id !== id) throw differs('another image', id, image.id);
  if (image.architecture !== architecture) {
    throw differs('an image for another architecture', architecture, image.architecture);
  }
  await expectLayers(path, image, signal);
}

async function expectLayers(
  path: string,
  { layers }: ArchivedImage,
  signal: AbortSignal,
): Promise<void> {
  const digests = new Map<string, string>();
  await readLayers(
    path,
    new Set(layers.map(({ entry }) => entry)),
    async (entry, content) => {
      digests.set(entry, await sha256OfStream(content, signal));
    },
    signal,
  );
  for (const { entry, diffId } of layers) {
    const found = digests.get(entry) ?? 'nothing';
    if (found !== diffId) throw differs(`another layer ${entry}`, `SHA-256 ${diffId}`, found);
  }
}

async function expectBinary(
  { architecture }: Payload,
  { name, zstd }: PayloadBinary,
  path: string,
): Promise<void> {
  const program = await readProgram(path, 'it');
  expectProgram(name, program);
  if (program.architecture !== architecture) {
    throw differs('a program for another architecture', architecture, program.architecture);
  }
  // A compressed program is run by nobody.
  if (zstd !== undefined) return;
  const mode = (await lstat(path)).mode & 0o777;
  if ((mode & 0o111) === 0o111) return;
  throw differs('a program that cannot be run', 'mode 0755', `0${mode.toString(8)}`);
}

const differs = (what: string, expected: string, found: string) =>
  new Failure('usage', what, { expected, found });
