import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { signText } from '../../../lib/pki/signature/ssh-signature.ts';
import { VOLUME_SIGNATURE } from '../../../lib/relocation/site-volume/signature.ts';

/** A passphrase may have to be typed. */
const SIGN_MS = 300_000;
/** `SSHSIG` and the version: the length of the public key follows, then the key. */
const KEY_AT = 10;

/**
 * The fingerprint of a key that can sign, which it has to show before the first volume is made.
 *
 * @throws Failure (usage) if it cannot
 */
export async function signerOf(key: string, signal: AbortSignal): Promise<string> {
  const limits = { signal, deadlineMs: SIGN_MS };
  const signature = await signText('', resolve(key), VOLUME_SIGNATURE, limits);
  const bytes = Buffer.from(signature.replace(/^-----.*$/gm, ''), 'base64');
  const length = bytes.readUInt32BE(KEY_AT);
  const blob = bytes.subarray(KEY_AT + 4, KEY_AT + 4 + length);
  return `SHA256:${createHash('sha256').update(blob).digest('base64').replaceAll('=', '')}`;
}
