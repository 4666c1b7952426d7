import { join } from 'node:path';
import { copyFile } from '../host/copy.ts';
import { type Payload, payloadFile, payloadPath, readPayload } from './payload.ts';
import { hasDigest, payloadFiles, verifyPayload } from './verify.ts';

/**
 * Copies a payload to another folder, each file atomically, and verifies the copy
 * as it is read back. Existing files are not copied again.
 */
export async function copyPayloadTo(
  payload: Payload,
  target: string,
  signal: AbortSignal,
): Promise<void> {
  for (const { path, sha256 } of payloadFiles(payload)) {
    if (await hasDigest(join(target, path), sha256, signal)) continue;
    await copyOne(payload, path, target, signal);
  }
  // The description is written last: a folder that has it is complete.
  await copyOne(payload, payloadFile, target, signal);
  await verifyPayload(await readPayload(target), signal);
}

async function copyOne(payload: Payload, path: string, target: string, signal: AbortSignal) {
  await copyFile(await payloadPath(payload, path), join(target, path), 0o644, signal);
}
