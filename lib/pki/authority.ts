import { createSigningKey, publicCryptoKey, signingCryptoKey } from './keys.ts';
import { lifetimes, validity } from './lifetimes.ts';
import { x509 } from './x509.ts';

/** A certificate and its private key (PKCS#8), as PEM. */
export interface KeyPair {
  certificate: string;
  key: string;
}

/** Creates a self-signed authority that can sign leaves, but no further authorities. */
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
      new x509.BasicConstraintsExtension(true, 0, true),
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
