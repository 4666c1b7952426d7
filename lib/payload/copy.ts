import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../base/errors/failure.ts';
import { eachToItsEnd } from '../base/wait/each-to-its-end.ts';
import { copyFile } from '../host/copy.ts';
import { sha256OfFile } from '../host/files.ts';
import { type Payload, payloadFile, payloadPath } from './payload.ts';
import {
  damagedPayload,
  digestFault,
  type FileDigest,
  hasDigest,
  type PayloadFile,
  payloadFiles,
} from './verify.ts';

/** While one file is written, another is read back and hashed. No more, since a virtual CD is slow in finding places. */
const COPIED_AT_ONCE = 2;

/**
 * Copies a payload to another folder, each file atomically, and verified as it is read back before it
 * has its name. Existing files are not copied again, and are verified, too.
 * @throws Failure (fatal) before anything is copied if a file has another size than stated, and for a file
 *   whose copy differs
 */
export async function copyPayloadTo(
  payload: Payload,
  target: string,
  signal: AbortSignal,
): Promise<void> {
  const files = payloadFiles(payload);
  for (const file of files) await requireSize(payload, file);
  const copyMissing = async (file: FileDigest): Promise<void> => {
    if (await hasDigest(join(target, file.path), file.sha256, signal)) return;
    await copyVerified(payload, file, target, signal);
  };
  await eachToItsEnd(files, copyMissing, COPIED_AT_ONCE);
  // The description is written last: a folder that has it is complete.
  const sha256 = await sha256OfFile(await payloadPath(payload, payloadFile), signal);
  await copyVerified(payload, { path: payloadFile, sha256 }, target, signal);
}

async function copyVerified(
  payload: Payload,
  file: FileDigest,
  target: string,
  signal: AbortSignal,
): Promise<void> {
  const source = await payloadPath(payload, file.path);
  await copyFile(source, join(target, file.path), 0o644, signal, async (copy) => {
    const fault = await digestFault(file, copy, signal);
    if (fault !== undefined) throw damagedPayload(payload, [fault]);
  });
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
