import { createHash } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import { Failure } from '../steps/failure.ts';
import { openPayloadFile, type Payload } from './payload.ts';

/**
 * Computes the SHA-256 of every file that payload.yaml names. Read in pieces of a
 * mebibyte: other work of the process waits for one piece at most, a few milliseconds.
 * @throws Failure (fatal) that names every file that differs.
 */
export async function verifyPayload(payload: Payload, signal: AbortSignal): Promise<void> {
  const faults: string[] = [];
  for (const { path, sha256 } of payloadFiles(payload)) {
    const found = await digestOf(payload, path, signal);
    if (found !== sha256) faults.push(`${path}: expected SHA-256 ${sha256}, found ${found}`);
  }
  if (faults.length === 0) return;
  throw new Failure(
    'fatal',
    `The payload in ${payload.directory} is damaged: ${faults.join('; ')}`,
    {
      fix: 'Write the live medium again',
    },
  );
}

function payloadFiles({ images, binaries }: Payload): { path: string; sha256: string }[] {
  return [
    ...images.map(({ archive, sha256 }) => ({ path: archive, sha256 })),
    ...binaries.map(({ file, sha256 }) => ({ path: file, sha256 })),
  ];
}

async function digestOf(payload: Payload, path: string, signal: AbortSignal): Promise<string> {
  const file = await openPayloadFile(payload, path);
  const hash = createHash('sha256');
  await pipeline(file.createReadStream({ highWaterMark: 1 << 20 }), hash, { signal });
  return hash.digest('hex');
}
