import { join } from 'node:path';
import { copyFile } from '../host/copy.ts';
import { sha256OfFiles } from '../host/digests.ts';
import { exists } from '../host/files.ts';
import { type Payload, payloadFile, payloadPath, readPayload } from './payload.ts';
import { payloadFiles, verifyPayload } from './verify.ts';

/**
 * Copies a payload to another folder, each file whole or not at all, and verifies
 * the copy as it is read back. Files that are there already are not copied again.
 */
export async function copyPayloadTo(
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
  await copyFile(await payloadPath(payload, path), join(target, path), 0o644, signal);
}

async function holds(path: string, sha256: string, signal: AbortSignal): Promise<boolean> {
  if (!(await exists(path))) return false;
  return (await sha256OfFiles([path], signal)).get(path) === sha256;
}
