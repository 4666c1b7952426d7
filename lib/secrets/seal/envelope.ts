import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** Begins every sealed file. */
const MAGIC = Buffer.from('SNOSEAL1');
const CIPHER = 'aes-256-gcm';
const [NONCE_BYTES, TAG_BYTES] = [12, 16];
/** Of the key of a host's sealed files. */
export const KEY_BYTES = 32;

/**
 * Encrypts the contents of a file with AES-256-GCM: magic, nonce, tag, ciphertext. `name` is authenticated with it, so
 * that one sealed file cannot take the place of another.
 */
export function sealed(key: Uint8Array, name: string, contents: string | Uint8Array): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(associated(name));
  const text = Buffer.concat([cipher.update(contents), cipher.final()]);
  return Buffer.concat([MAGIC, nonce, cipher.getAuthTag(), text]);
}

/** The contents of a sealed file; undefined if it is damaged, of another name or by another key. */
export function unsealed(key: Uint8Array, name: string, bytes: Uint8Array): Buffer | undefined {
  const [nonceAt, tagAt, textAt] = [MAGIC.length, MAGIC.length + NONCE_BYTES, HEAD_BYTES];
  if (!isSealed(bytes)) return undefined;
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(nonceAt, tagAt), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(associated(name));
  decipher.setAuthTag(bytes.subarray(tagAt, textAt));
  const text = decipher.update(bytes.subarray(textAt));
  try {
    return Buffer.concat([text, decipher.final()]);
  } catch {
    return undefined;
  }
}

const HEAD_BYTES = MAGIC.length + NONCE_BYTES + TAG_BYTES;

export const isSealed = (bytes: Uint8Array): boolean =>
  bytes.length >= HEAD_BYTES && MAGIC.equals(bytes.subarray(0, MAGIC.length));

const associated = (name: string) => Buffer.concat([MAGIC, Buffer.from(name)]);
