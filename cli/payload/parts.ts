import { Failure } from '../../lib/base/errors/failure.ts';
import { addOns } from '../../lib/payload/add-ons.ts';
import { type Program, readProgram, startsLikeElf } from '../../lib/payload/elf/elf.ts';
import { readImageArchive } from '../../lib/payload/image/archive.ts';
import { namePattern } from '../../lib/payload/payload.ts';
import { type ChosenImage, chooseImage } from './choose-image.ts';
import { noting } from './noting.ts';
import { expectProgram } from './program-name.ts';
import type { PayloadRequest, RequestedBinary } from './request.ts';

/** A file that an image of the payload is made from. */
export type ImagePart = { name: string; path: string } & (
  | { kind: 'archive'; chosen: ChosenImage }
  | { kind: 'program'; program: Program; reference?: string | undefined }
);

/** A program that is copied to the host unchanged. */
export interface BinaryPart extends RequestedBinary {
  program: Program;
}

export interface PayloadParts {
  images: ImagePart[];
  binaries: BinaryPart[];
  /** Files beside the network plugins that are not programs. */
  leftOut: string[];
}

/** Inspects every file of the request; every fault is added to `faults`. */
export async function readParts(
  { images, binaries }: PayloadRequest,
  faults: string[],
  signal: AbortSignal,
): Promise<PayloadParts> {
  const parts: PayloadParts = { images: [], binaries: [], leftOut: [] };
  for (const request of images) {
    await noting(faults, `--image ${request.name}=${request.path}`, signal, async () => {
      parts.images.push(await readImagePart(request, signal));
    });
  }
  for (const request of binaries) {
    const { kind, name, path } = request;
    const label = kind === 'cni' ? `--cni ${path}` : `--binary ${name}=${path}`;
    await noting(faults, label, signal, async () => {
      if (kind === 'cni' && !(await startsLikeElf(path))) parts.leftOut.push(path);
      else parts.binaries.push({ ...request, program: await readBinary(name, path) });
    });
  }
  return parts;
}

async function readImagePart(
  { name, path, reference }: PayloadRequest['images'][number],
  signal: AbortSignal,
): Promise<ImagePart> {
  if (await startsLikeElf(path)) {
    const program = await readProgram(path, path);
    expectProgram(name, program);
    expectSufficient(name);
    return { name, path, kind: 'program', program, reference };
  }
  const { images } = await readImageArchive(path, signal);
  return { name, path, kind: 'archive', chosen: chooseImage(images, name, reference) };
}

/** An image that is made from a program contains nothing else. */
function expectSufficient(name: string): void {
  const contains = addOns.find((addOn) => addOn.name === name)?.contains;
  if (contains === undefined) return;
  throw new Failure('usage', 'a program is not enough', {
    expected: `an image archive, which also contains ${contains}`,
    fix: 'Save the image (skopeo copy, podman save) and pass the archive.',
  });
}

async function readBinary(name: string, path: string): Promise<Program> {
  if (!namePattern.test(name)) {
    throw new Failure('usage', 'not a valid name in a payload', {
      expected: 'lower-case letters, digits, - . and _',
      found: name,
    });
  }
  const program = await readProgram(path, path);
  expectProgram(name, program);
  return program;
}
