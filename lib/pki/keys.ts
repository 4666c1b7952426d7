import { createHash, createPrivateKey, createPublicKey, generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';

const generate = promisify(generateKeyPair);

/** A bare key pair, such as the one that signs service account tokens. */
export interface SigningKey {
  /** PKCS#8, PEM. */
  privateKey: string;
  /** SubjectPublicKeyInfo, PEM. */
  publicKey: string;
}

/** Creates an ECDSA P-256 key pair. */
export async function createSigningKey(): Promise<SigningKey> {
  return generate('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
}

/**
 * SHA-256 of the SubjectPublicKeyInfo, as lower-case hex: equal for a private key
 * (PKCS#8 or SEC 1), its public key and every certificate for it.
 *
 * @throws Error of node:crypto when the PEM holds none of these.
 */
export function publicKeyFingerprint(pem: string): string {
  const spki = createPublicKey(pem).export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(spki).digest('hex');
}

const ecdsaP256 = { name: 'ECDSA', namedCurve: 'P-256' } as const;

/** A private key from PEM (PKCS#8 or SEC 1) for signing. */
export function signingCryptoKey(pem: string) {
  return createPrivateKey(pem).toCryptoKey(ecdsaP256, false, ['sign']);
}

/** The public key of a key or certificate in PEM, for inclusion in a certificate. */
export function publicCryptoKey(pem: string) {
  return createPublicKey(pem).toCryptoKey(ecdsaP256, true, []);
}
