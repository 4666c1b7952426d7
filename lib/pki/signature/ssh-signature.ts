import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import type { FailureCode } from '../../base/errors/codes.ts';
import { Failure } from '../../base/errors/failure.ts';
import type { Limits } from '../../base/wait/limits.ts';
import { writeFileAtomic } from '../../host/files.ts';
import { withWorkFolder } from '../../host/work-folder.ts';
import { isPlainKey, publicKeyOf } from './ssh-keys.ts';

/** What a signature is for: one for anything else, such as a commit, is not accepted. */
export interface SignaturePurpose {
  /** Of `ssh-keygen -Y`. */
  readonly namespace: string;
  /** The name of every signer in allowed_signers: which key it was says ssh-keygen. */
  readonly signer: string;
  /** What is signed, in words. */
  readonly subject: string;
  /** Which keys may sign, in words. */
  readonly keys: string;
  /** How to get one that is signed, and how to allow a key. */
  readonly fixes: { readonly sign: string; readonly allow: string };
  /** Of a refusal. */
  readonly code: FailureCode;
}

const DEADLINE_MS = 30_000;

/**
 * The keys of authorized_keys as a file of allowed signers (ssh-keygen(1)), for one purpose only. A key with options is
 * left out: it may log in for one command, from one network, or until one day, and is not root's. So is a line for an
 * authority of certificates, which is an option: it names nobody.
 */
export function allowedSigners(
  authorizedKeys: readonly string[],
  { namespace, signer }: SignaturePurpose,
): string {
  const keys = authorizedKeys
    .filter((line) => isPlainKey(line.trim()))
    .flatMap((line) => publicKeyOf(line) ?? []);
  return keys.map((key) => `${signer} namespaces="${namespace}" ${key}\n`).join('');
}

export interface SignedText {
  readonly text: string;
  /** In the format of `ssh-keygen -Y sign`. */
  readonly signature: string;
}

/**
 * Verifies a signature with the operating system's ssh-keygen. `work` is a folder that does not exist yet.
 * Returns the fingerprint of the key.
 *
 * @param signers a file of allowed signers.
 * @throws Failure (usage, with the purpose's code) if no allowed key has signed the text
 */
export async function verifySignature(
  { text, signature }: SignedText,
  signers: string,
  purpose: SignaturePurpose,
  work: string,
  signal: AbortSignal,
): Promise<string> {
  const { namespace, signer, subject, keys, fixes, code } = purpose;
  if (signers === '') {
    throw new Failure('usage', `no key is known that may sign ${subject}s`, {
      code,
      fix: fixes.allow,
    });
  }
  await mkdir(dirname(work), { recursive: true });
  return withWorkFolder(work, async (folder) => {
    const files = {
      signers: join(folder, 'allowed_signers'),
      signature: join(folder, 'signature'),
    };
    await writeFileAtomic(files.signers, signers, 0o600);
    await writeFileAtomic(files.signature, signature, 0o600);
    const result = await execa(
      'ssh-keygen',
      [
        ...['-Y', 'verify', '-f', files.signers, '-I', signer, '-n', namespace],
        ...['-s', files.signature],
      ],
      { input: text, reject: false, timeout: DEADLINE_MS, cancelSignal: signal },
    );
    signal.throwIfAborted();
    const { exitCode, stdout, stderr } = result;
    const [, fingerprint] = /with \S+ key (SHA256:\S+)/.exec(stdout) ?? [];
    if (exitCode === 0 && fingerprint !== undefined) return fingerprint;
    if (result.code === 'ENOENT') {
      throw new Failure('fatal', 'ssh-keygen is not installed', { fix: 'Install OpenSSH.' });
    }
    if (exitCode === undefined) {
      // Killed, for memory perhaps, or too slow: it has judged nothing.
      const found = result.timedOut ? 'its deadline' : (result.signal ?? result.code);
      throw new Failure('retry', 'ssh-keygen has not verified the signature', { found });
    }
    const found = [stdout, stderr]
      .map((part) => part.trim().replaceAll(folder, ''))
      .filter(Boolean);
    throw new Failure('usage', `the ${subject} is not signed by an allowed key`, {
      code,
      expected: `a signature for ${namespace} by ${keys}`,
      found: found.join('; ') || `ssh-keygen ended with ${exitCode}`,
      fix: fixes.sign,
    });
  });
}

/**
 * Signs a text with a private key, or with the key in ssh-agent that belongs to a public one.
 *
 * @throws Failure (usage) if the key cannot sign
 */
export async function signText(
  text: string,
  key: string,
  { namespace }: Pick<SignaturePurpose, 'namespace'>,
  { signal, deadlineMs }: Limits,
): Promise<string> {
  const { stdout, stderr, exitCode } = await execa(
    'ssh-keygen',
    ['-Y', 'sign', '-n', namespace, '-f', key],
    { input: text, reject: false, timeout: deadlineMs, cancelSignal: signal },
  );
  signal.throwIfAborted();
  if (exitCode === 0 && stdout.includes('BEGIN SSH SIGNATURE')) return `${stdout.trim()}\n`;
  throw new Failure('usage', `${key} cannot sign`, {
    expected: 'a private key of OpenSSH, or the public one of a key in ssh-agent',
    found: stderr.trim() || `ssh-keygen ended with ${exitCode}`,
  });
}
