import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../base/errors/failure.ts';
import { eachToItsEnd } from '../base/wait/each-to-its-end.ts';
import { copyFile } from '../host/copy.ts';
import { exists } from '../host/files.ts';
import { type Payload, payloadFile, payloadPath } from './payload.ts';
import { unpackFile } from './unpack.ts';
import {
  type DescribedFile,
  damagedPayload,
  digestFault,
  type FileDigest,
  hasDigest,
  type PayloadFile,
  payloadFiles,
  storedFile,
  storedFiles,
} from './verify.ts';

/** While one file is written, another is read back and hashed. No more, since a virtual CD is slow in finding places. */
const COPIED_AT_ONCE = 2;

/**
 * Copies a payload to a host's folder, each file atomically, and verified as it is read back before it
 * has its name. What the source has only compressed is decompressed. Existing files are not copied again, and are verified, too.
 * @throws Failure (fatal) before anything is copied if a file has another size than stated, and for a file
 *   whose copy differs
 */
export async function copyPayloadTo(
  payload: Payload,
  target: string,
  signal: AbortSignal,
): Promise<void> {
  await copyFiles(payload, payloadFiles(payload), target, signal);
}

/** The same for a laptop's or a server's folder: what is compressed stays so. */
export async function copyStoredTo(
  payload: Payload,
  target: string,
  signal: AbortSignal,
): Promise<void> {
  await copyFiles(payload, storedFiles(payload), target, signal);
}

async function copyFiles(
  payload: Payload,
  files: readonly DescribedFile[],
  target: string,
  signal: AbortSignal,
): Promise<void> {
  for (const file of files) await requireSize(payload, await formIn(payload, file));
  const copyMissing = async (file: DescribedFile): Promise<void> => {
    if (await hasDigest(join(target, file.path), file.sha256, signal)) return;
    const form = await formIn(payload, file);
    if (form.path === file.path) await copyVerified(payload, file, target, signal);
    else await unpackFrom(payload, form, file, target, signal);
  };
  await eachToItsEnd(files, copyMissing, COPIED_AT_ONCE);
  // The description is written last: a folder that has it is complete. It is the one by which the others were verified.
  const description = { path: payloadFile, sha256: payload.descriptionSha256 };
  await copyVerified(payload, description, target, signal);
}

/** As the source has it: a live host may have decompressed its medium's payload already. */
async function formIn({ directory }: Payload, file: DescribedFile): Promise<PayloadFile> {
  if (file.zstd === undefined || (await exists(join(directory, file.path)))) return file;
  return storedFile(file);
}

async function unpackFrom(
  payload: Payload,
  stored: PayloadFile,
  file: PayloadFile,
  target: string,
  signal: AbortSignal,
): Promise<void> {
  const source = await payloadPath(payload, stored.path);
  const compressed = { source, name: `The payload file ${stored.path}` };
  await unpackFile(compressed, join(target, file.path), file, signal);
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
