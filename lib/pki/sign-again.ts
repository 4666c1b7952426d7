import { certificatePem, type KeyPair } from './authority.ts';
import { parseCertificate } from './certificate.ts';
import { signingCryptoKey } from './keys.ts';
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
    signingKey: signingCryptoKey(signer.key),
    extensions,
  });
  return certificatePem(certificate);
}
