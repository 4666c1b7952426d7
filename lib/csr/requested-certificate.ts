import { createHash, createPublicKey } from 'node:crypto';
import { canonicalAddress } from '../network/address.ts';
import { x509 } from '../pki/x509.ts';

/** The contents of a PKCS#10 request, parsed strictly. */
export interface RequestedCertificate {
  /** In order: `['O', 'system:nodes']`, `['CN', …]`; an unknown attribute is named by its OID. */
  readonly subject: readonly (readonly [type: string, value: string])[];
  readonly dnsNames: readonly string[];
  /** In canonical form. */
  readonly ipAddresses: readonly string[];
  /** Alternative names of every other type, as `email:…`, `url:…`. */
  readonly otherNames: readonly string[];
  /** Attributes and extensions besides the alternative names, by OID. */
  readonly extras: readonly string[];
  /** `EC prime256v1`, `RSA 2048`, `ed25519`. */
  readonly key: string;
  /** SHA-256 of its SubjectPublicKeyInfo, as lower-case hex. */
  readonly keySha256: string;
  readonly signatureIsValid: boolean;
}

const extensionRequest = '1.2.840.113549.1.9.14';
const subjectAlternativeName = '2.5.29.17';

/** One block and nothing else, so that no two parsers can see different requests. */
const singleBlock =
  /^\s*-----BEGIN CERTIFICATE REQUEST-----\r?\n[A-Za-z0-9+/=\r\n]+-----END CERTIFICATE REQUEST-----\s*$/;

/** @throws Error if the text is not exactly one PKCS#10 request in PEM. */
export async function readRequestedCertificate(pem: string): Promise<RequestedCertificate> {
  if (!singleBlock.test(pem)) throw new Error('it is not one PEM block of a certificate request');
  const request = new x509.Pkcs10CertificateRequest(pem);
  const extensions = request.attributes.flatMap((attribute) =>
    attribute instanceof x509.ExtensionsAttribute ? attribute.items : [],
  );
  const names = extensions.flatMap((extension) =>
    extension instanceof x509.SubjectAlternativeNameExtension ? extension.names.items : [],
  );
  const valuesOf = (type: string) =>
    names.filter((name) => name.type === type).map(({ value }) => value);
  return {
    subject: request.subjectName
      .toJSON()
      .flatMap((part) => Object.entries(part))
      .flatMap(([type, values]) => values.map((value) => [type, value] as const)),
    dnsNames: valuesOf('dns'),
    ipAddresses: valuesOf('ip').map(canonicalAddress),
    otherNames: names
      .filter(({ type }) => type !== 'dns' && type !== 'ip')
      .map(({ type, value }) => `${type}:${value}`),
    extras: [...unexpectedAttributes(request), ...unexpectedExtensions(extensions)],
    key: describeKey(request.publicKey.rawData),
    keySha256: createHash('sha256').update(Buffer.from(request.publicKey.rawData)).digest('hex'),
    signatureIsValid: await isSigned(request),
  };
}

/** Parsers differ in which of several values they use: only a single value is unambiguous. */
function unexpectedAttributes({ attributes }: x509.Pkcs10CertificateRequest): string[] {
  const others = attributes.filter(({ type }) => type !== extensionRequest);
  const requests = attributes.filter(({ type }) => type === extensionRequest);
  const plain = requests.length <= 1 && requests.every(({ values }) => values.length === 1);
  return [...others.map(({ type }) => type), ...(plain ? [] : [extensionRequest])];
}

function unexpectedExtensions(extensions: readonly x509.Extension[]): string[] {
  const others = extensions.filter(({ type }) => type !== subjectAlternativeName);
  const named = extensions.filter(({ type }) => type === subjectAlternativeName);
  return [...others, ...named.slice(1)].map(({ type }) => type);
}

function describeKey(spki: ArrayBuffer): string {
  const key = createPublicKey({ key: Buffer.from(spki), format: 'der', type: 'spki' });
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  if (type === 'ec') return `EC ${details?.namedCurve}`;
  return type === 'rsa' ? `RSA ${details?.modulusLength}` : `${type}`;
}

async function isSigned(request: x509.Pkcs10CertificateRequest): Promise<boolean> {
  try {
    return await request.verify();
  } catch {
    return false;
  }
}
