import { createPrivateKey, generateKeyPairSync, type webcrypto } from 'node:crypto';
import { x509 } from '../../../../lib/pki/x509.ts';

/** A certificate and its key in the form of the installer: SEC 1 or PKCS#1. */
export interface Issued {
  certificate: string;
  key: string;
  signingKey: webcrypto.CryptoKey;
}

export interface Dates {
  notBefore: Date;
  notAfter: Date;
}

const ALGORITHMS = {
  rsa: {
    pair: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
    web: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' },
    type: 'pkcs1',
  },
  'P-256': {
    pair: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
    web: { name: 'ECDSA', namedCurve: 'P-256' },
    type: 'sec1',
  },
  'P-384': {
    pair: () => generateKeyPairSync('ec', { namedCurve: 'P-384' }),
    web: { name: 'ECDSA', namedCurve: 'P-384' },
    type: 'sec1',
  },
} as const;

export type Algorithm = keyof typeof ALGORITHMS;

/** An authority, or with `by` a leaf, with these dates. */
export async function issue(
  commonName: string,
  dates: Dates,
  { by, algorithm = 'P-256' }: { by?: Issued; algorithm?: Algorithm } = {},
): Promise<Issued> {
  const { pair, web, type } = ALGORITHMS[algorithm];
  const { privateKey, publicKey } = pair();
  const signingKey = privateKey.toCryptoKey(web, false, ['sign']);
  const issuer = by === undefined ? undefined : new x509.X509Certificate(by.certificate);
  const certificate = await x509.X509CertificateGenerator.create({
    subject: `CN=${commonName}, OU=openshift`,
    issuer: issuer?.subjectName ?? `CN=${commonName}, OU=openshift`,
    ...dates,
    publicKey: publicKey.toCryptoKey(web, true, ['verify']),
    signingKey: by?.signingKey ?? signingKey,
    extensions: [
      new x509.BasicConstraintsExtension(by === undefined, undefined, true),
      new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: `${commonName}.test` }]),
    ],
  });
  return {
    certificate: `${certificate.toString('pem').trimEnd()}\n`,
    key: `${createPrivateKey(privateKey.export({ format: 'pem', type: 'pkcs8' })).export({ format: 'pem', type })}`,
    signingKey,
  };
}
