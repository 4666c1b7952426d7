import { createSigningKey, publicCryptoKey, signingCryptoKey } from './keys.ts';
import { lifetimes, validity } from './lifetimes.ts';
import { x509 } from './x509.ts';

/** A certificate and its private key (PKCS#8), as PEM. */
export interface KeyPair {
  certificate: string;
  key: string;
}

/** Makes a self-signed authority that may sign leaves, not further authorities. */
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
 * The two authorities that `sno create` makes, because the kubeconfig that it hands
 * out must be good before the host exists: one signs what the API server shows, one
 * signs clients with administrators' rights. Neither may vouch for the other's.
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
