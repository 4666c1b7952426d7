import { Failure } from '../base/errors/failure.ts';
import { certificatePem, type KeyPair, requireValid } from './authority.ts';
import {
  type CertificateSubject,
  certificatesIn,
  isIssuedBy,
  parseCertificate,
  validityOf,
} from './certificate.ts';
import { createSigningKey, publicCryptoKey, signingCryptoKey } from './keys.ts';
import { daysMs, lifetimes, type SigningTime, validity } from './lifetimes.ts';
import { x509 } from './x509.ts';

export interface LeafProfile {
  subject: { commonName: string; organizations?: CertificateSubject['organizations'] };
  usage: 'client' | 'server' | 'both';
  dnsNames?: readonly string[];
  ipAddresses?: readonly string[];
  /** Default: lifetimes.leafDays. */
  lifetimeDays?: number;
}

/** A function, since a run that only reads dates must not load the library. */
function extendedKeyUsages(usage: LeafProfile['usage']): x509.ExtendedKeyUsageType[] {
  const { clientAuth, serverAuth } = x509.ExtendedKeyUsage;
  return { client: [clientAuth], server: [serverAuth], both: [serverAuth, clientAuth] }[usage];
}

/** Creates a key and a certificate for it, valid no longer than the authority. */
export async function issueLeaf(
  authority: KeyPair,
  profile: LeafProfile,
  time: SigningTime,
): Promise<KeyPair> {
  const { privateKey, publicKey } = await createSigningKey();
  const certificate = await certifyKey(authority, publicCryptoKey(publicKey), profile, time);
  return { certificate, key: privateKey };
}

/** Creates a certificate, as PEM, for the public key of somebody else; valid no longer than the authority. */
export async function certifyKey(
  authority: KeyPair,
  subjectKey: x509.PublicKeyType,
  profile: LeafProfile,
  time: SigningTime,
): Promise<string> {
  const issuer = parseCertificate(authority.certificate);
  const dates = validity(time, profile.lifetimeDays ?? lifetimes.leafDays);
  const certificate = await x509.X509CertificateGenerator.create({
    subject: subjectName(profile.subject),
    issuer: issuer.subjectName,
    notBefore: dates.notBefore,
    notAfter: earlier(dates.notAfter, issuer.notAfter),
    publicKey: subjectKey,
    signingKey: signingCryptoKey(authority.key),
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension(extendedKeyUsages(profile.usage)),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
      await x509.SubjectKeyIdentifierExtension.create(subjectKey),
      ...alternativeNames(profile),
    ],
  });
  return certificatePem(certificate);
}

/**
 * A new key and certificate with the subject, names and usages of another one, by another
 * authority. Of the old certificate only its identifiers of keys and its end are not kept: like a
 * renewed leaf, it is valid from the same time, in case the clock is fast.
 */
export async function rekeyLeaf(old: string, authority: KeyPair, now: Date): Promise<KeyPair> {
  const leaf = parseCertificate(old);
  const issuer = parseCertificate(authority.certificate);
  const dates = validity({ now, validFrom: leaf.notBefore }, lifetimes.leafDays);
  const { privateKey, publicKey } = await createSigningKey();
  const subjectKey = publicCryptoKey(publicKey);
  const certificate = await x509.X509CertificateGenerator.create({
    subject: leaf.subjectName,
    issuer: issuer.subjectName,
    notBefore: dates.notBefore,
    notAfter: earlier(dates.notAfter, issuer.notAfter),
    publicKey: subjectKey,
    signingKey: signingCryptoKey(authority.key),
    extensions: [
      ...leaf.extensions.filter(({ type }) => !KEY_IDENTIFIERS.includes(type)),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
      await x509.SubjectKeyIdentifierExtension.create(subjectKey),
    ],
  });
  return { certificate: certificatePem(certificate), key: privateKey };
}

/** OIDs of the identifiers of the subject's and the authority's key. */
const KEY_IDENTIFIERS = ['2.5.29.14', '2.5.29.35'];

/**
 * Renews a leaf: same key, subject, names and usages, new serial number and dates. The host's
 * clock may be wrong in either direction, so the new validity includes the old one: a
 * certificate that was signed while the clock was wrong is still valid once it is right.
 *
 * @param oldCertificate with the certificates that are presented together with it, if any: that of
 *   its authority by the previous one, after a rotation.
 * @returns the new certificate as PEM, with those of the others that have not expired; the key is
 *   unchanged.
 * @throws Failure (fatal) when the authority did not sign the old certificate, or is not valid by
 *   the host's clock.
 */
export async function renewLeaf(
  oldCertificate: string,
  authority: KeyPair,
  now: Date,
): Promise<string> {
  const old = parseCertificate(oldCertificate);
  const issuer = parseCertificate(authority.certificate);
  if (!(await isIssuedBy(oldCertificate, authority.certificate))) {
    throw new Failure('fatal', `the certificate of ${old.subject} was not issued by this CA`, {
      expected: `issuer ${issuer.subject}`,
      found: `issuer ${old.issuer}`,
    });
  }
  const fresh = validity({ now, validFrom: old.notBefore }, lifetimes.leafDays);
  requireValid(authority.certificate, now);
  const certificate = await x509.X509CertificateGenerator.create({
    subject: old.subjectName,
    issuer: issuer.subjectName,
    notBefore: fresh.notBefore,
    notAfter: earlier(later(fresh.notAfter, old.notAfter), issuer.notAfter),
    publicKey: old.publicKey,
    signingKey: signingCryptoKey(authority.key),
    extensions: old.extensions,
  });
  const others = certificatesIn(oldCertificate).slice(1);
  return [
    certificatePem(certificate),
    ...others.filter((pem) => validityOf(pem).notAfter > now),
  ].join('');
}

/** When a leaf becomes due for renewal: at the beginning of the last third of its lifetime. */
export function renewalDate(certificate: string): Date {
  const { notAfter } = validityOf(certificate);
  return new Date(notAfter.getTime() - daysMs(lifetimes.leafRenewalDays));
}

/** Whether a leaf is due for renewal: about to expire, expired, or not yet valid by this clock. */
export function needsRenewal(certificate: string, now: Date): boolean {
  return now < validityOf(certificate).notBefore || now > renewalDate(certificate);
}

/**
 * Whether a renewed leaf would be valid for longer. If its authority expires with it, daily
 * renewals would change nothing.
 */
export function renewalGains(certificate: string, authority: string): boolean {
  const gainedMs =
    validityOf(authority).notAfter.getTime() - validityOf(certificate).notAfter.getTime();
  return gainedMs > daysMs(1);
}

/** Typed values are used verbatim; in plain strings the library interprets quotes and hex. */
export function subjectName({ commonName, organizations = [] }: LeafProfile['subject']) {
  return new x509.Name([
    ...organizations.map((value) => ({ O: [{ utf8String: value }] })),
    { CN: [{ utf8String: commonName }] },
  ]);
}

function alternativeNames({ dnsNames = [], ipAddresses = [] }: LeafProfile) {
  const names = [
    ...dnsNames.map((value) => ({ type: 'dns' as const, value })),
    ...ipAddresses.map((value) => ({ type: 'ip' as const, value })),
  ];
  return names.length === 0 ? [] : [new x509.SubjectAlternativeNameExtension(names)];
}

function earlier(a: Date, b: Date): Date {
  return a < b ? a : b;
}

function later(a: Date, b: Date): Date {
  return a > b ? a : b;
}
