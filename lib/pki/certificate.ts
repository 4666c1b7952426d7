import { X509Certificate } from 'node:crypto';
import { Failure } from '../base/errors/failure.ts';
import { x509 } from './x509.ts';

export interface CertificateSubject {
  commonName: string;
  /** Kubernetes uses these as the user's groups. */
  organizations: readonly string[];
}

/** The contents of a certificate. */
export interface CertificateFacts {
  subject: CertificateSubject;
  issuer: CertificateSubject;
  /** Lower-case hex. */
  serialNumber: string;
  dnsNames: readonly string[];
  ipAddresses: readonly string[];
  notBefore: Date;
  notAfter: Date;
  isAuthority: boolean;
  clientAuth: boolean;
  serverAuth: boolean;
}

/** Up to the next dashes only: a text with many BEGIN lines and no END would take the square of its length. */
const BLOCKS = /-----BEGIN CERTIFICATE-----(?:(?!-----)[\s\S])+-----END CERTIFICATE-----\n?/g;

/** Every certificate of a PEM text, in order, each with a newline at its end. */
export function certificatesIn(pem: string): string[] {
  return (pem.match(BLOCKS) ?? []).map((block) => `${block.trimEnd()}\n`);
}

/** The rest of a PEM text, such as the key in a file with both. */
export function withoutCertificates(pem: string): string {
  return pem.replaceAll(BLOCKS, '');
}

/**
 * Parses the first certificate of a PEM text, which may contain other blocks too
 * (the kubelet keeps certificate and key in one file).
 *
 * @throws Failure (fatal) if there is none or it cannot be parsed.
 */
export function parseCertificate(pem: string) {
  const [block] = certificatesIn(pem);
  try {
    if (block !== undefined) return new x509.X509Certificate(block);
  } catch (cause) {
    throw new Failure('fatal', 'the certificate cannot be parsed', { cause });
  }
  throw new Failure('fatal', 'the text contains no certificate', {
    expected: 'a PEM block CERTIFICATE',
  });
}

/**
 * When the first certificate of a PEM text is valid. Reads it with Node's own parser: a daily look
 * at some dates is not worth loading the library.
 *
 * @throws Failure as parseCertificate.
 */
export function validityOf(pem: string): { readonly notBefore: Date; readonly notAfter: Date } {
  try {
    const { validFromDate, validToDate } = new X509Certificate(pem);
    return { notBefore: validFromDate, notAfter: validToDate };
  } catch (cause) {
    throw new Failure('fatal', 'the certificate cannot be parsed', { cause });
  }
}

/** Reads the first certificate of a PEM text. @throws Failure as parseCertificate. */
export function inspectCertificate(pem: string): CertificateFacts {
  const certificate = parseCertificate(pem);
  const names = certificate.getExtension(x509.SubjectAlternativeNameExtension)?.names.items ?? [];
  const usages = certificate.getExtension(x509.ExtendedKeyUsageExtension)?.usages ?? [];
  return {
    subject: subjectOf(certificate.subjectName),
    issuer: subjectOf(certificate.issuerName),
    serialNumber: certificate.serialNumber.toLowerCase(),
    dnsNames: names.filter(({ type }) => type === 'dns').map(({ value }) => value),
    ipAddresses: names.filter(({ type }) => type === 'ip').map(({ value }) => value),
    notBefore: certificate.notBefore,
    notAfter: certificate.notAfter,
    isAuthority: certificate.getExtension(x509.BasicConstraintsExtension)?.ca ?? false,
    clientAuth: usages.includes(x509.ExtendedKeyUsage.clientAuth),
    serverAuth: usages.includes(x509.ExtendedKeyUsage.serverAuth),
  };
}

/** Whether the authority signed it, by name and signature; dates are not checked. */
export async function isIssuedBy(pem: string, authorityPem: string): Promise<boolean> {
  const certificate = parseCertificate(pem);
  const authority = parseCertificate(authorityPem);
  if (certificate.issuer !== authority.subject) return false;
  return certificate.verify({ publicKey: authority.publicKey, signatureOnly: true });
}

function subjectOf(name: InstanceType<typeof x509.Name>): CertificateSubject {
  return { commonName: name.getField('CN').at(-1) ?? '', organizations: name.getField('O') };
}
