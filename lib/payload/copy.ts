import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../base/errors/failure.ts';
import { copyFile } from '../host/copy.ts';
import { type Payload, payloadFile, payloadPath, readPayload } from './payload.ts';
import { hasDigest, type PayloadFile, payloadFiles, verifyPayload } from './verify.ts';

/**
 * Copies a payload to another folder, each file atomically, and verifies the copy
 * as it is read back. Existing files are not copied again.
 * @throws Failure (fatal) before anything is copied if a file has another size than stated
 */
export async function copyPayloadTo(
  payload: Payload,
  target: string,
  signal: AbortSignal,
): Promise<void> {
  const files = payloadFiles(payload);
  for (const file of files) await requireSize(payload, file);
  for (const { path, sha256 } of files) {
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

/** What a stranger has written may be without end. */
async function requireSize(payload: Payload, { path, size }: PayloadFile): Promise<void> {
  const found = (await stat(await payloadPath(payload, path))).size;
  if (found === size) return;
  throw new Failure('fatal', `The payload file ${path} is damaged`, {
    code: 'payload-damaged',
    expected: `${size} bytes`,
    found: `${found}`,
    fix: 'Copy the payload to its folder again, or write the medium again.',
  });
}
