import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { Failure } from '../errors/failure.ts';
import { writeFileAtomic } from '../host/files.ts';
import { withWorkFolder } from '../host/work-folder.ts';
import { publicKeyOf } from '../site/ssh-keys.ts';
import type { Limits } from '../wait/limits.ts';

/** What a signature is for: one for anything else, such as a commit, is not accepted. */
export const SIGNATURE_NAMESPACE = 'sno-agents-update';
/** The name of every signer in allowed_signers: which key it was says ssh-keygen. */
const SIGNER = 'sno-update';
const DEADLINE_MS = 30_000;

/**
 * The keys of authorized_keys as a file of allowed signers (ssh-keygen(1)), for updates only. A line
 * for an authority of certificates is left out: it names nobody.
 */
export function allowedSigners(authorizedKeys: readonly string[]): string {
  const keys = authorizedKeys
    .filter((line) => !/^[^ ]*\bcert-authority\b/.test(line))
    .flatMap((line) => publicKeyOf(line) ?? []);
  return keys.map((key) => `${SIGNER} namespaces="${SIGNATURE_NAMESPACE}" ${key}\n`).join('');
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
 * @throws Failure (usage, `update-refused`) if no allowed key has signed the text
 */
export async function verifySignature(
  { text, signature }: SignedText,
  signers: string,
  work: string,
  signal: AbortSignal,
): Promise<string> {
  if (signers === '') {
    throw refused('this host knows no key that may sign updates', {
      fix: 'Give an sshKey in install-config.yaml, or write /etc/sno-agents/allowed_signers as root (ssh-keygen(1)).',
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
    const { exitCode, stdout, stderr, code } = await execa(
      'ssh-keygen',
      [
        ...['-Y', 'verify', '-f', files.signers, '-I', SIGNER, '-n', SIGNATURE_NAMESPACE],
        ...['-s', files.signature],
      ],
      { input: text, reject: false, timeout: DEADLINE_MS, cancelSignal: signal },
    );
    signal.throwIfAborted();
    const [, fingerprint] = /with \S+ key (SHA256:\S+)/.exec(stdout) ?? [];
    if (exitCode === 0 && fingerprint !== undefined) return fingerprint;
    if (code === 'ENOENT') {
      throw new Failure('fatal', 'ssh-keygen is not installed', { fix: 'Install OpenSSH.' });
    }
    const found = [stdout, stderr]
      .map((part) => part.trim().replaceAll(folder, ''))
      .filter(Boolean);
    throw refused('the update is not signed by a key of this host', {
      expected: `a signature for ${SIGNATURE_NAMESPACE} by a key of its sshKey or of /etc/sno-agents/allowed_signers`,
      found: found.join('; ') || `ssh-keygen ended with ${exitCode}`,
      fix: 'Nothing was changed. Sign it with "sno create update --key".',
    });
  });
}

/**
 * Signs a text with a private key, or with the key in ssh-agent that belongs to a public one.
 *
 * @throws Failure (usage) if the key cannot sign
 */
export async function signUpdate(
  text: string,
  key: string,
  { signal, deadlineMs }: Limits,
): Promise<string> {
  const { stdout, stderr, exitCode } = await execa(
    'ssh-keygen',
    ['-Y', 'sign', '-n', SIGNATURE_NAMESPACE, '-f', key],
    { input: text, reject: false, timeout: deadlineMs, cancelSignal: signal },
  );
  signal.throwIfAborted();
  if (exitCode === 0 && stdout.includes('BEGIN SSH SIGNATURE')) return `${stdout.trim()}\n`;
  throw new Failure('usage', `${key} cannot sign`, {
    expected: 'a private key of OpenSSH, or the public one of a key in ssh-agent',
    found: stderr.trim() || `ssh-keygen ended with ${exitCode}`,
  });
}

const refused = (what: string, details: { expected?: string; found?: string; fix: string }) =>
  new Failure('usage', what, { code: 'update-refused', ...details });
