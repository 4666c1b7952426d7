import { publicCryptoKey, type SigningKey, signingCryptoKey } from './keys.ts';
import { type LeafProfile, subjectName } from './leaf.ts';
import { x509 } from './x509.ts';

/** A PKCS#10 request for a certificate with that subject and without other names, as PEM. */
export async function certificateRequest(
  subject: LeafProfile['subject'],
  { privateKey, publicKey }: SigningKey,
): Promise<string> {
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: subjectName(subject),
    keys: {
      privateKey: signingCryptoKey(privateKey),
      publicKey: publicCryptoKey(publicKey),
    },
    signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' },
  });
  return `${request.toString('pem').trimEnd()}\n`;
}
