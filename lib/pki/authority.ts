import { Failure } from '../base/errors/failure.ts';
import { parseCertificate, validityOf } from './certificate.ts';
import { createSigningKey, publicCryptoKey, signingCryptoKey } from './keys.ts';
import { lifetimes, type SigningTime, validity } from './lifetimes.ts';
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
/** That of the medium certifies the host's own: the kubeconfig on the laptop follows it once more. */
const MEDIUM_PATH_LENGTH = 2;

/**
 * Creates a self-signed authority that signs leaves, and at its end its successor. Nothing signs an
 * authority again: one that was created with a fast clock must be valid when the clock is correct.
 */
export async function createAuthority(
  commonName: string,
  time: SigningTime,
  lifetimeDays: number = lifetimes.authorityDays,
  pathLength: number = PATH_LENGTH,
): Promise<KeyPair> {
  const dates = validity(time, lifetimeDays);
  const { privateKey, publicKey } = await createSigningKey();
  const subjectKey = publicCryptoKey(publicKey);
  const certificate = await x509.X509CertificateGenerator.create({
    subject: [{ CN: [commonName] }],
    issuer: [{ CN: [commonName] }],
    ...dates,
    publicKey: subjectKey,
    signingKey: signingCryptoKey(privateKey),
    extensions: [
      new x509.BasicConstraintsExtension(true, pathLength, true),
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

/** What replaces an authority. */
export interface Successor extends KeyPair {
  /**
   * The new authority's certificate signed by the old one, for clients that trust only the old one.
   * Absent if the old one may not sign authorities (path length 0).
   */
  readonly cross?: string | undefined;
}

/** As succeed. @throws Failure as requireValid. */
export async function createSuccessor(old: KeyPair, now: Date): Promise<Successor> {
  requireValid(old.certificate, now);
  return succeed(old, now);
}

/**
 * Creates an authority that replaces another: with a key of its own and, so that no program takes
 * one for the other, a name of its own (`<name>@<Unix time>`). It is valid from the time from which
 * the old one is, whatever the clock says.
 */
export async function succeed(old: KeyPair, now: Date): Promise<Successor> {
  const [name = ''] = parseCertificate(old.certificate).subjectName.getField('CN');
  const base = name.replace(/@\d+$/, '');
  const next = await createAuthority(`${base}@${Math.floor(now.getTime() / 1000)}`, {
    now,
    validFrom: validityOf(old.certificate).notBefore,
  });
  return mayCertifyAuthorities(old.certificate)
    ? { ...next, cross: await crossSign(next.certificate, old) }
    : next;
}

/**
 * Without a valid authority nothing that it signs works. Then the clock is more likely wrong than
 * the authority old.
 *
 * @throws Failure (fatal) if the authority is not valid at that time.
 */
export function requireValid(authority: string, now: Date): void {
  const { notBefore, notAfter } = validityOf(authority);
  const isEarly = now < notBefore;
  if (!isEarly && now < notAfter) return;
  const { subject } = parseCertificate(authority);
  const state = isEarly ? 'is not valid yet' : 'has expired';
  throw new Failure('fatal', `the certificate authority ${subject} ${state}`, {
    expected: isEarly
      ? `a time after ${notBefore.toISOString()}`
      : `a time before ${notAfter.toISOString()}`,
    found: now.toISOString(),
    fix: "Check the host's clock.",
  });
}

/** Whether certificates of an authority below this one are valid: its path length is not 0. */
export function mayCertifyAuthorities(certificate: string): boolean {
  const constraints = parseCertificate(certificate).getExtension(x509.BasicConstraintsExtension);
  return constraints?.ca === true && constraints.pathLength !== 0;
}

/** Subject and key of one authority, signed by the other; valid while both are, for one level less. */
async function crossSign(certificate: string, by: KeyPair): Promise<string> {
  const subject = parseCertificate(certificate);
  const issuer = parseCertificate(by.certificate);
  const levels = issuer.getExtension(x509.BasicConstraintsExtension)?.pathLength;
  const crossed = await x509.X509CertificateGenerator.create({
    subject: subject.subjectName,
    issuer: issuer.subjectName,
    notBefore: subject.notBefore,
    notAfter: new Date(Math.min(subject.notAfter.getTime(), issuer.notAfter.getTime())),
    publicKey: subject.publicKey,
    signingKey: signingCryptoKey(by.key),
    extensions: [
      new x509.BasicConstraintsExtension(true, Math.max(0, (levels ?? 1) - 1), true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
      await x509.SubjectKeyIdentifierExtension.create(subject.publicKey),
    ],
  });
  return certificatePem(crossed);
}

/** Common name of the authority whose key is on the medium; those that hosts make have others. */
export const LAPTOP_SERVING_CA = 'kube-apiserver-serving-ca';

/** Common name of the authority that signs the first kubeconfig; that of the host has another one. */
export const LAPTOP_ADMIN_CA = 'sno-laptop-admin-ca';

/**
 * The two authorities that `sno create` generates, because its kubeconfig must be valid
 * before the host exists: one signs the API server's certificate, the other one client, the
 * first administrator. Neither is trusted for the other's certificates.
 */
export async function createLaptopAuthorities(now: Date) {
  // Nothing on a laptop is known to be earlier.
  const time = { now, validFrom: now };
  const [servingCa, adminCa] = await Promise.all([
    createAuthority(LAPTOP_SERVING_CA, time, lifetimes.authorityDays, MEDIUM_PATH_LENGTH),
    createAuthority(LAPTOP_ADMIN_CA, time),
  ]);
  return { servingCa, adminCa };
}

export function certificatePem(certificate: { toString(format: 'pem'): string }): string {
  return `${certificate.toString('pem').trimEnd()}\n`;
}
