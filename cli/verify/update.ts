import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import {
  parseUpdate,
  UPDATE_FILES,
  type UpdateManifest,
} from '../../lib/change/update/manifest.ts';
import { UPDATE_SIGNATURE } from '../../lib/change/update/signature.ts';
import { predecessors } from '../../lib/change/update/successor.ts';
import { sha256OfFile } from '../../lib/host/files.ts';
import { readGivenFile, readSmallFile } from '../../lib/host/given-file.ts';
import { payloadFile } from '../../lib/payload/payload.ts';
import { sshKeys } from '../../lib/pki/signature/ssh-keys.ts';
import { allowedSigners, verifySignature } from '../../lib/pki/signature/ssh-signature.ts';
import { readExecutable } from '../agents-executable.ts';
import { orderOf } from '../create/update.ts';
import type { AcceptOptions } from '../payload/accept.ts';
import type { Surroundings } from '../surroundings.ts';
import { verifyPayloadFolder } from './payload.ts';

export interface VerifyUpdateOptions extends AcceptOptions {
  /** A file with public keys. */
  readonly sshKey: string;
}

/** `sno verify update DIR`: @throws Failure (usage) for the first part that is not what its manifest says */
export async function verifyUpdate(
  directory: string,
  { sshKey, ...accept }: VerifyUpdateOptions,
  { print, notice, signal }: Pick<Surroundings, 'print' | 'notice' | 'signal'>,
): Promise<void> {
  const at = (name: string) => join(directory, name);
  const text = await readSmallFile(at(UPDATE_FILES.manifest), 'The manifest');
  const signature = await readSmallFile(at(UPDATE_FILES.signature), 'The signature');
  const manifest = parseUpdate(text, at(UPDATE_FILES.manifest));
  const work = await mkdtemp(join(tmpdir(), 'sno-update-'));
  try {
    const signers = allowedSigners(
      sshKeys(await readGivenFile(sshKey, '--ssh-key', { signal })),
      UPDATE_SIGNATURE,
    );
    const key = await verifySignature(
      { text, signature },
      signers,
      UPDATE_SIGNATURE,
      join(work, 'keys'),
      signal,
    );
    await requireFiles(directory, manifest, signal);
    await verifyPayloadFolder(at(UPDATE_FILES.payload), accept, { print, notice, signal });
    print(orderOf(manifest));
    print(`For hosts with ${predecessors(manifest.payload.versions)}`);
    if (manifest.expires !== undefined && new Date() >= new Date(manifest.expires)) {
      notice('it has expired. No host takes it.');
    }
    print(`Signed by ${key}`);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function requireFiles(
  directory: string,
  { executable, payload, architecture }: UpdateManifest,
  signal: AbortSignal,
): Promise<void> {
  const program = join(directory, UPDATE_FILES.executable);
  const found = await readExecutable(program, signal);
  requireEqual(program, executable.sha256, found.sha256);
  requireEqual(`the version of ${program}`, executable.version, found.version);
  requireEqual(`the architecture of ${program}`, architecture, found.architecture);
  const description = join(directory, UPDATE_FILES.payload, payloadFile);
  requireEqual(description, payload.sha256, await sha256OfFile(description, signal));
}

function requireEqual(what: string, expected: string, found: string): void {
  if (found === expected) return;
  throw new Failure('usage', `${what} is not what the signed manifest says`, { expected, found });
}
