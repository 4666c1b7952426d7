import { createSigningKey, publicCryptoKey, signingCryptoKey } from './keys.ts';
import { lifetimes, validity } from './lifetimes.ts';
import { x509 } from './x509.ts';

/** A certificate and its private key (PKCS#8), as PEM. */
export interface KeyPair {
  certificate: string;
  key: string;
}

/**
 * One level of authorities may be below it: an old authority can sign its successor, so that
 * whoever trusts only the old one accepts leaves of the new one. Go counts certificates whose
 * subject is their issuer too, unlike RFC 5280.
 */
const PATH_LENGTH = 1;

/** Creates a self-signed authority that signs leaves, and at its end its successor. */
export async function createAuthority(
  commonName: string,
  lifetimeDays: number = lifetimes.authorityDays,
  now: Date = new Date(),
): Promise<KeyPair> {
  const { privateKey, publicKey } = await createSigningKey();
  const subjectKey = publicCryptoKey(publicKey);
  const certificate = await x509.X509CertificateGenerator.create({
    subject: [{ CN: [commonName] }],
    issuer: [{ CN: [commonName] }],
    ...validity(now, lifetimeDays),
    publicKey: subjectKey,
    signingKey: signingCryptoKey(privateKey),
    extensions: [
      new x509.BasicConstraintsExtension(true, PATH_LENGTH, true),
      new x509.KeyUsagesExtension(
        x509.KeyUsageFlags.keyCertSign |
          x509.KeyUsageFlags.cRLSign |
          x509.KeyUsageFlags.digitalSignature,
        true,
      ),
      await x509.SubjectKeyIdentifierExtension.create(subjectKey),
    ],
  });
  return { certificate: certificatePem(certificate), key: privateKey };
}

/**
 * The two authorities that `sno create` generates, because its kubeconfig must be valid
 * before the host exists: one signs the API server's certificate, the other signs
 * clients with administrator rights. Neither is trusted for the other's certificates.
 */
export async function createLaptopAuthorities(now: Date = new Date()) {
  const [servingCa, adminCa] = await Promise.all([
    createAuthority('kube-apiserver-serving-ca', lifetimes.authorityDays, now),
    createAuthority('kube-admin-ca', lifetimes.authorityDays, now),
  ]);
  return { servingCa, adminCa };
}

export function certificatePem(certificate: { toString(format: 'pem'): string }): string {
  return `${certificate.toString('pem').trimEnd()}\n`;
}
