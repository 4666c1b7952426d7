import { createHash, createPrivateKey, createPublicKey, generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import { Failure } from '../base/errors/failure.ts';

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

/** By the names of OpenSSL, as Node reports them. */
const CURVES: Readonly<Record<string, string>> = {
  prime256v1: 'P-256',
  secp384r1: 'P-384',
  secp521r1: 'P-521',
};

/**
 * A private key from PEM for signing, of any kind that an authority has: the product's own have
 * ECDSA P-256, those of openshift-install RSA.
 *
 * @throws Failure (fatal) for another kind of key.
 */
export function signingCryptoKey(pem: string) {
  const key = createPrivateKey(pem);
  if (key.asymmetricKeyType === 'rsa') {
    return key.toCryptoKey({ name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }, false, ['sign']);
  }
  const namedCurve = CURVES[key.asymmetricKeyDetails?.namedCurve ?? ''];
  if (namedCurve !== undefined) {
    return key.toCryptoKey({ name: 'ECDSA', namedCurve }, false, ['sign']);
  }
  throw new Failure('fatal', 'the key of a certificate authority cannot be used', {
    expected: 'RSA or an elliptic curve of NIST',
    found: key.asymmetricKeyType ?? 'no private key',
  });
}

/** The public key of a key or certificate in PEM (ECDSA P-256), for inclusion in a certificate. */
export function publicCryptoKey(pem: string) {
  return createPublicKey(pem).toCryptoKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, []);
}
