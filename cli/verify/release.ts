import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import { printable } from '../../lib/base/printable.ts';
import { sha256OfFile } from '../../lib/host/files.ts';
import { readGivenFile, readSmallFile, requireRegularFile } from '../../lib/host/given-file.ts';
import { sshKeys } from '../../lib/pki/signature/ssh-keys.ts';
import {
  allowedSigners,
  type SignaturePurpose,
  verifySignature,
} from '../../lib/pki/signature/ssh-signature.ts';
import type { Surroundings } from '../surroundings.ts';

export const RELEASE_SIGNATURE: SignaturePurpose = {
  namespace: 'sno-agents-release',
  signer: 'sno-release',
  subject: 'release',
  keys: 'a key of the file given with --ssh-key',
  fixes: {
    sign: 'Do not use it. Download it again, and compare the key with the one that its publisher names elsewhere.',
    allow: 'Give a file with public keys without options, one on each line.',
  },
  code: 'usage',
};

/** The files of a release that vouch for the others. */
export const RELEASE_FILES = { sums: 'SHA256SUMS', signature: 'SHA256SUMS.sig' } as const;

export interface VerifyReleaseOptions {
  /** A file with public keys. */
  readonly sshKey: string;
}

/**
 * `sno verify release DIR`: the signature of SHA256SUMS, and each file of the release that is in the folder.
 *
 * @throws Failure (usage) that names every file that differs
 */
export async function verifyRelease(
  directory: string,
  { sshKey }: VerifyReleaseOptions,
  { print, signal }: Pick<Surroundings, 'print' | 'signal'>,
): Promise<void> {
  const text = await readSmallFile(join(directory, RELEASE_FILES.sums), 'The list of files');
  const signature = await readSmallFile(join(directory, RELEASE_FILES.signature), 'The signature');
  const signers = allowedSigners(
    sshKeys(await readGivenFile(sshKey, '--ssh-key', { signal })),
    RELEASE_SIGNATURE,
  );
  const work = await mkdtemp(join(tmpdir(), 'sno-release-'));
  try {
    const signed = { text, signature };
    const keys = join(work, 'keys');
    const key = await verifySignature(signed, signers, RELEASE_SIGNATURE, keys, signal);
    const names = await requireFiles(directory, parseSums(text), signal);
    for (const name of names) print(`${name}: as it was signed`);
    print(`Signed by ${key}`);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Digests by names of files. @throws Failure (usage) */
function parseSums(text: string): Map<string, string> {
  const lines = text.split('\n').filter((line) => line !== '');
  return new Map(
    lines.map((line) => {
      const [, digest, name] =
        /^([0-9a-f]{64}) [ *]([A-Za-z0-9_][A-Za-z0-9._+-]*)$/.exec(line) ?? [];
      if (digest === undefined || name === undefined) {
        throw new Failure('usage', `${RELEASE_FILES.sums} cannot be read`, {
          expected: 'lines of sha256sum with names of files, without folders',
          found: printable(line.slice(0, 200)),
        });
      }
      return [name, digest];
    }),
  );
}

/** The names of those that are there. Somebody who installs one processor's hosts downloads one archive. */
async function requireFiles(
  directory: string,
  sums: ReadonlyMap<string, string>,
  signal: AbortSignal,
): Promise<string[]> {
  const present = (await readdir(directory)).filter((name) => sums.has(name)).toSorted();
  const faults: string[] = [];
  for (const name of present) {
    await requireRegularFile(join(directory, name), 'The file');
    const found = await sha256OfFile(join(directory, name), signal);
    const expected = sums.get(name);
    if (found !== expected) faults.push(`${name}: expected SHA-256 ${expected}, found ${found}`);
  }
  if (faults.length > 0) {
    throw new Failure('usage', ['The release differs from what was signed', ...faults].join('\n'), {
      fix: 'Do not use these files. Download them again.',
    });
  }
  if (present.length > 0) return present;
  throw new Failure('usage', `${directory} has no file of this release`, {
    expected: `one of ${[...sums.keys()].join(', ')}`,
    found: 'none',
  });
}
