import { createPrivateKey } from 'node:crypto';
import { Failure } from '../errors/failure.ts';
import { certificatePem, type KeyPair } from './authority.ts';
import { parseCertificate } from './certificate.ts';
import { x509 } from './x509.ts';

/**
 * A certificate with the same key, subject and extensions, and other dates. Its signer may have a
 * key of any kind that openshift-install creates; an authority signs itself.
 *
 * @throws Failure (fatal) for another kind of key.
 */
export async function signAgain(
  old: string,
  signer: KeyPair,
  dates: { readonly notBefore: Date; readonly notAfter: Date },
): Promise<string> {
  const { subjectName, publicKey, extensions } = parseCertificate(old);
  const certificate = await x509.X509CertificateGenerator.create({
    subject: subjectName,
    issuer: parseCertificate(signer.certificate).subjectName,
    ...dates,
    publicKey,
    signingKey: signingKeyOf(signer.key),
    extensions,
  });
  return certificatePem(certificate);
}

/** By the names of OpenSSL, as Node reports them. */
const CURVES: Readonly<Record<string, string>> = {
  prime256v1: 'P-256',
  secp384r1: 'P-384',
  secp521r1: 'P-521',
};

function signingKeyOf(pem: string) {
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
