import { Failure } from '../errors/failure.ts';
import { sha256OfFiles } from '../host/digests.ts';
import { type Payload, type PayloadDescription, payloadPath } from './payload.ts';

/** A file that payload.yaml names, by its path in the payload. */
export interface PayloadFile {
  path: string;
  size: number;
  sha256: string;
}

/** Every file that payload.yaml names, with its size and digest. */
export function payloadFiles({ images, binaries }: PayloadDescription): PayloadFile[] {
  return [
    ...images.map(({ archive, size, sha256 }) => ({ path: archive, size, sha256 })),
    ...binaries.map(({ file, size, sha256 }) => ({ path: file, size, sha256 })),
  ];
}

/** Computes the SHA-256 of every file that payload.yaml names: a sentence for each that differs. */
export async function damagedFiles(payload: Payload, signal: AbortSignal): Promise<string[]> {
  const files = payloadFiles(payload);
  const paths = await Promise.all(files.map(({ path }) => payloadPath(payload, path)));
  const digests = await sha256OfFiles(paths, signal);
  return files.flatMap(({ path, sha256 }, index) => {
    const found = digests.get(paths[index] ?? '');
    return found === sha256 ? [] : [`${path}: expected SHA-256 ${sha256}, found ${found}`];
  });
}

/** @throws Failure (fatal) that names every file of the payload that differs. */
export async function verifyPayload(payload: Payload, signal: AbortSignal): Promise<void> {
  const faults = await damagedFiles(payload, signal);
  if (faults.length === 0) return;
  throw new Failure(
    'fatal',
    `The payload in ${payload.directory} is damaged: ${faults.join('; ')}`,
    { fix: 'Write the live medium again' },
  );
}
