import { constants } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { isMissing, sha256OfFile, syncDirectory } from '../host/files.ts';
import { openPayloadFile, type Payload, payloadFile, readPayload } from './payload.ts';
import { payloadFiles, verifyPayload } from './verify.ts';

/**
 * Copies a payload to another folder, each file whole or not at all, and verifies
 * the copy as it is read back. Files that are there already are not copied again.
 */
export async function copyPayload(
  payload: Payload,
  target: string,
  signal: AbortSignal,
): Promise<void> {
  for (const { path, sha256 } of payloadFiles(payload)) {
    if (await holds(join(target, path), sha256, signal)) continue;
    await copyOne(payload, path, target, signal);
  }
  // The description comes last: a folder that has it is complete.
  await copyOne(payload, payloadFile, target, signal);
  await verifyPayload(await readPayload(target), signal);
}

async function copyOne(payload: Payload, path: string, target: string, signal: AbortSignal) {
  const source = await openPayloadFile(payload, path);
  await writeStreamed(
    source.createReadStream({ highWaterMark: 1 << 20 }),
    join(target, path),
    0o644,
    signal,
  );
}

/** Streams to a file beside the target, syncs and renames it. */
export async function writeStreamed(
  source: NodeJS.ReadableStream,
  target: string,
  mode: number,
  signal: AbortSignal,
): Promise<void> {
  await mkdir(dirname(target), { recursive: true, mode: 0o755 });
  const beside = `${target}.new`;
  await rm(beside, { force: true });
  const file = await open(beside, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, mode);
  try {
    await file.chmod(mode);
    await pipeline(source, file.createWriteStream({ flush: true }), { signal });
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
  await rename(beside, target);
  await syncDirectory(dirname(target));
}

async function holds(path: string, sha256: string, signal: AbortSignal): Promise<boolean> {
  try {
    return (await sha256OfFile(path, signal)) === sha256;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}
