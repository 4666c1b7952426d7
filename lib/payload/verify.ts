import pMap from 'p-map';
import { Failure } from '../base/errors/failure.ts';
import { sha256OfAnyFile } from '../host/digests.ts';
import { exists } from '../host/files.ts';
import { type Payload, type PayloadDescription, payloadPath } from './payload.ts';

/** A file that payload.yaml names, by its path in the payload. */
export interface PayloadFile {
  path: string;
  size: number;
  sha256: string;
}

export type FileDigest = Pick<PayloadFile, 'path' | 'sha256'>;

/** A file as a host uses it, and its compressed form, if payload.yaml states one. */
export interface DescribedFile extends PayloadFile {
  zstd?: Omit<PayloadFile, 'path'> | undefined;
}

/** Every file that payload.yaml names, as a host uses it. */
export function payloadFiles({ images, binaries }: PayloadDescription): DescribedFile[] {
  return [
    ...images.map(({ archive, size, sha256, zstd }) => ({ path: archive, size, sha256, zstd })),
    ...binaries.map(({ file, size, sha256, zstd }) => ({ path: file, size, sha256, zstd })),
  ];
}

/** The same file as a laptop, a medium or a server has it. */
export const storedFile = ({ path, size, sha256, zstd }: DescribedFile): PayloadFile =>
  zstd === undefined ? { path, size, sha256 } : { path: `${path}.zst`, ...zstd };

/** Every file of a payload on a laptop, a medium or a server. */
export const storedFiles = (payload: PayloadDescription): PayloadFile[] =>
  payloadFiles(payload).map(storedFile);

/** Whether hosts have to decompress files of this payload before they use them. */
export const isCompressed = (payload: PayloadDescription): boolean =>
  payloadFiles(payload).some(({ zstd }) => zstd !== undefined);

/** While one file is hashed, another one is read. No more, since a virtual CD is slow in finding places. */
const HASHED_AT_ONCE = 2;

/** Verifies the SHA-256 of these files of a payload. Returns a sentence for each that differs. */
export async function damagedFiles(
  payload: Payload,
  files: readonly FileDigest[],
  signal: AbortSignal,
): Promise<string[]> {
  const damaged = await pMap(
    files,
    async (file) => (await digestFault(file, await payloadPath(payload, file.path), signal)) ?? [],
    { concurrency: HASHED_AT_ONCE },
  );
  return damaged.flat();
}

/** Whether the file exists and has that digest. */
export async function hasDigest(
  path: string,
  sha256: string,
  signal: AbortSignal,
): Promise<boolean> {
  return (await exists(path)) && (await sha256OfAnyFile(path, signal)) === sha256;
}

/** Of a payload on a host. @throws Failure (fatal) that names every file that differs. */
export async function verifyPayload(payload: Payload, signal: AbortSignal): Promise<void> {
  const faults = await damagedFiles(payload, payloadFiles(payload), signal);
  if (faults.length > 0) throw damagedPayload(payload, faults);
}

/** `faults`: a sentence for each file. */
export function damagedPayload({ directory }: Payload, faults: readonly string[]): Failure {
  return new Failure('fatal', `The payload in ${directory} is damaged: ${faults.join('; ')}`, {
    code: 'payload-damaged',
    fix: 'Write the medium again. If the payload was downloaded, delete its payload.yaml and start the unit again: the damaged files are downloaded again.',
  });
}

/** The fault of a file that should have that digest; undefined if it has. */
export async function digestFault(
  { path, sha256 }: FileDigest,
  file: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const found = await sha256OfAnyFile(file, signal);
  return found === sha256 ? undefined : `${path}: expected SHA-256 ${sha256}, found ${found}`;
}
