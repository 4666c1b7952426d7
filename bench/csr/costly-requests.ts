import { generateKeyPairSync, sign } from 'node:crypto';
import { encode, encodeText, TAGS } from '../../lib/cluster/csr/der.ts';

/** A PKCS#10 request that costs its reader as much as possible, and the rule by which it is left. */
export interface CostlyRequest {
  readonly title: string;
  readonly pem: string;
  readonly rule: 'request' | 'key' | 'signature' | 'names';
}

const KIB = 1024;
const oid = (hex: string) => encode(TAGS.oid, Buffer.from(hex, 'hex'));
const RSA = '2a864886f70d010101';
const SHA512_WITH_RSA = '2a864886f70d01010d';
const ECDSA_WITH_SHA512 = '2a8648ce3d040304';
const COMMON_NAME = '550403';
const ORGANIZATION = '55040a';
const NULL = Buffer.of(5, 0);

/** One number of so many bytes: as text it costs the square of them. */
const longOid = (bytes: number) => encode(TAGS.oid, Buffer.alloc(bytes - 1, 0x81), Buffer.of(1));
const attribute = (type: Buffer, ...values: Buffer[]) =>
  encode(TAGS.sequence, type, encode(TAGS.set, ...values));
const part = (type: string, value: string) =>
  encode(TAGS.set, encode(TAGS.sequence, oid(type), encodeText(TAGS.utf8String, value)));

/** A positive odd number of so many bits. */
const number = (bits: number) => encode(TAGS.integer, Buffer.of(0), Buffer.alloc(bits / 8, 0xff));
const rsaKey = (modulusBits: number, exponent: Buffer) =>
  encode(
    TAGS.sequence,
    encode(TAGS.sequence, oid(RSA), NULL),
    encode(TAGS.bitString, Buffer.of(0), encode(TAGS.sequence, number(modulusBits), exponent)),
  );
const EXPONENT = encode(TAGS.integer, Buffer.of(1, 0, 1));

interface Parts {
  readonly subject?: readonly Buffer[];
  readonly attributes?: readonly Buffer[];
  /** Of the key that signs it. */
  readonly curve?: 'P-256' | 'P-521';
}

/** Signed with its own key: an API server accepts no others. */
function signedPem(nodeName: string, { curve = 'P-256', ...parts }: Parts): string {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: curve });
  const info = infoOf(nodeName, publicKey.export({ type: 'spki', format: 'der' }), parts);
  return pemOf(
    info,
    encode(TAGS.sequence, oid(ECDSA_WITH_SHA512)),
    sign('sha512', info, privateKey),
  );
}

/** With a key of RSA that nobody has, and hence a wrong signature. */
const unsignedPem = (nodeName: string, modulusBits: number, exponent: Buffer): string =>
  pemOf(
    infoOf(nodeName, rsaKey(modulusBits, exponent), {}),
    encode(TAGS.sequence, oid(SHA512_WITH_RSA), NULL),
    Buffer.alloc(modulusBits / 8, 1),
  );

function infoOf(nodeName: string, key: Buffer, { subject, attributes = [] }: Parts): Buffer {
  const own = [part(ORGANIZATION, 'system:nodes'), part(COMMON_NAME, `system:node:${nodeName}`)];
  return encode(
    TAGS.sequence,
    encode(TAGS.integer, Buffer.of(0)),
    encode(TAGS.sequence, ...(subject ?? own)),
    key,
    encode(0xa0, ...attributes),
  );
}

function pemOf(info: Buffer, algorithm: Buffer, signature: Buffer): string {
  const bits = encode(TAGS.bitString, Buffer.of(0), signature);
  const der = encode(TAGS.sequence, info, algorithm, bits);
  const lines = der.toString('base64').replace(/.{64}/g, '$&\n').trimEnd();
  return `-----BEGIN CERTIFICATE REQUEST-----\n${lines}\n-----END CERTIFICATE REQUEST-----\n`;
}

/** For the node of that name. Those of up to 16 KiB are read, and the others are not. */
export const costlyRequests = (nodeName: string): readonly CostlyRequest[] => [
  {
    title: 'an object identifier of 320 KiB',
    rule: 'request',
    pem: signedPem(nodeName, { attributes: [attribute(longOid(320 * KIB))] }),
  },
  {
    title: 'an object identifier of 11 KiB',
    rule: 'request',
    pem: signedPem(nodeName, { attributes: [attribute(longOid(11 * KIB))] }),
  },
  {
    title: 'an attribute of 0.6 MiB',
    rule: 'request',
    pem: signedPem(nodeName, {
      attributes: [attribute(oid('2a03'), encode(TAGS.octetString, Buffer.alloc(600 * KIB)))],
    }),
  },
  {
    title: 'a subject of 700 parts',
    rule: 'request',
    pem: signedPem(nodeName, {
      subject: Array.from({ length: 700 }, () => part(ORGANIZATION, 'o')),
    }),
  },
  {
    title: '600 attributes',
    rule: 'request',
    pem: signedPem(nodeName, {
      attributes: Array.from({ length: 600 }, () => attribute(oid('2a03'))),
    }),
  },
  {
    title: 'a key on P-521, whose signature is verified',
    rule: 'names',
    pem: signedPem(nodeName, { curve: 'P-521' }),
  },
  {
    title: 'an RSA key with an exponent of 3072 bits',
    rule: 'key',
    pem: unsignedPem(nodeName, 3072, number(3072)),
  },
  {
    title: 'an RSA key of 16384 bits',
    rule: 'signature',
    pem: unsignedPem(nodeName, 16_384, EXPONENT),
  },
];
