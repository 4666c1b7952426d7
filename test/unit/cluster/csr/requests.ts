import { webcrypto } from 'node:crypto';
import type { CertificateSigningRequest } from '../../../../lib/clients/kube/resources.ts';
import {
  type SigningRequest,
  signingRequestOf,
} from '../../../../lib/cluster/csr/signing-request.ts';
import type { HostView, NodeView } from '../../../../lib/cluster/csr/views.ts';
import { x509 } from '../../../../lib/pki/x509.ts';

export const now = new Date('2030-01-01T00:10:00Z');

export const host: HostView = {
  nodeName: 'sno.example.com',
  staticHostName: 'sno.example.com',
  nodeIps: ['192.0.2.10'],
  clientCertificate: 'ab'.repeat(32),
};

/** How the API server records which client certificate proved the requestor. */
export const credential = (sha256: string) => ({
  'authentication.kubernetes.io/credential-id': [`X509SHA256=${sha256}`],
});

export const node: NodeView = { name: 'sno.example.com', internalIps: ['192.0.2.10'] };

export type KeyKind =
  | 'P-256'
  | 'P-384'
  | 'P-521'
  | 'RSA-2048'
  | 'RSA-1536'
  | 'RSA-1024'
  | 'Ed25519';

/** Everything in a request that a test may change. */
export interface Variation {
  /** In the library's own notation. */
  subject?: ConstructorParameters<typeof x509.Name>[0];
  names?: { type: 'dns' | 'ip' | 'email' | 'url'; value: string }[];
  extraExtensions?: InstanceType<typeof x509.Extension>[];
  extraAttributes?: InstanceType<typeof x509.Attribute>[];
  key?: KeyKind;
  /** Replaces the PEM made from all that. */
  pem?: (right: string) => string | Promise<string>;
  spec?: Partial<CertificateSigningRequest['spec']>;
  status?: CertificateSigningRequest['status'];
  created?: string | null;
}

const right = {
  subject: [{ O: ['system:nodes'] }, { CN: ['system:node:sno.example.com'] }],
  names: [
    { type: 'dns' as const, value: 'sno.example.com' },
    { type: 'ip' as const, value: '192.0.2.10' },
  ],
};

/** The PEM of a signed request. */
export async function requestPem(variation: Variation = {}): Promise<string> {
  const { algorithm, keys } = await keyPair(variation.key ?? 'P-256');
  const names = variation.names ?? right.names;
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: new x509.Name(variation.subject ?? right.subject),
    keys,
    signingAlgorithm: algorithm,
    extensions: [
      ...(names.length === 0 ? [] : [new x509.SubjectAlternativeNameExtension(names)]),
      ...(variation.extraExtensions ?? []),
    ],
    attributes: variation.extraAttributes ?? [],
  });
  const pem = `${request.toString('pem')}\n`;
  return variation.pem === undefined ? pem : variation.pem(pem);
}

/** The API object for such a request. */
export async function requestObject(variation: Variation = {}): Promise<CertificateSigningRequest> {
  const { created = '2030-01-01T00:09:00Z' } = variation;
  return {
    metadata: { name: 'csr-abcde', uid: 'u1', creationTimestamp: created },
    spec: {
      request: Buffer.from(await requestPem(variation)).toString('base64'),
      signerName: 'kubernetes.io/kubelet-serving',
      username: 'system:node:sno.example.com',
      groups: ['system:nodes', 'system:authenticated'],
      extra: credential('ab'.repeat(32)),
      usages: ['digital signature', 'server auth'],
      ...variation.spec,
    },
    ...(variation.status === undefined ? {} : { status: variation.status }),
  };
}

/** A request made a minute ago by the current clock. */
export async function recentRequest(name: string, variation: Variation = {}) {
  const created = new Date(Date.now() - 60_000).toISOString();
  const object = await requestObject({ created, ...variation });
  return { ...object, metadata: { ...object.metadata, name, uid: `uid of ${name}` } };
}

export async function signingRequest(variation: Variation = {}): Promise<SigningRequest> {
  return signingRequestOf(await requestObject(variation));
}

const keyPairs = new Map<KeyKind, ReturnType<typeof createKeyPair>>();

/** One of each kind: generating keys takes most of the time of these tests. */
function keyPair(kind: KeyKind) {
  const known = keyPairs.get(kind) ?? createKeyPair(kind);
  keyPairs.set(kind, known);
  return known;
}

async function createKeyPair(kind: KeyKind) {
  if (kind === 'Ed25519') {
    const algorithm = { name: 'Ed25519' };
    return { algorithm, keys: await generate(algorithm) };
  }
  if (kind.startsWith('P-')) {
    const algorithm = { name: 'ECDSA', namedCurve: kind, hash: 'SHA-256' };
    return { algorithm, keys: await generate(algorithm) };
  }
  const algorithm = {
    name: 'RSASSA-PKCS1-v1_5',
    hash: 'SHA-256',
    modulusLength: Number(kind.slice('RSA-'.length)),
    publicExponent: new Uint8Array([1, 0, 1]),
  };
  return { algorithm, keys: await generate(algorithm) };
}

async function generate(algorithm: { name: string }): Promise<webcrypto.CryptoKeyPair> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  if (!('privateKey' in keys)) throw new Error(`${algorithm.name} makes no key pair`);
  return keys;
}
