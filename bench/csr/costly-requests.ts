import { encode, encodeText, TAGS } from '../../lib/csr/der.ts';

/** A PKCS#10 request that costs its reader as much as possible, and the rule by which it is left. */
export interface CostlyRequest {
  readonly title: string;
  readonly pem: string;
  readonly rule: 'request' | 'key' | 'signature';
}

const KIB = 1024;
const oid = (hex: string) => encode(TAGS.oid, Buffer.from(hex, 'hex'));
const RSA = '2a864886f70d010101';
const SHA512_WITH_RSA = '2a864886f70d01010d';
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
  readonly key?: Buffer;
  readonly attributes?: readonly Buffer[];
  readonly signatureBytes?: number;
}

/** Everything but its signature may be right: nobody can have signed with these keys. */
function pemOf(nodeName: string, parts: Parts): string {
  const {
    subject = [part(ORGANIZATION, 'system:nodes'), part(COMMON_NAME, `system:node:${nodeName}`)],
    key = rsaKey(2048, EXPONENT),
    attributes = [],
    signatureBytes = 256,
  } = parts;
  const der = encode(
    TAGS.sequence,
    encode(
      TAGS.sequence,
      encode(TAGS.integer, Buffer.of(0)),
      encode(TAGS.sequence, ...subject),
      key,
      encode(0xa0, ...attributes),
    ),
    encode(TAGS.sequence, oid(SHA512_WITH_RSA), NULL),
    encode(TAGS.bitString, Buffer.of(0), Buffer.alloc(signatureBytes, 1)),
  );
  const lines = der.toString('base64').replace(/.{64}/g, '$&\n').trimEnd();
  return `-----BEGIN CERTIFICATE REQUEST-----\n${lines}\n-----END CERTIFICATE REQUEST-----\n`;
}

/** For the node of that name. Those of up to 16 KiB are read, and the others are not. */
export const costlyRequests = (nodeName: string): readonly CostlyRequest[] => [
  {
    title: 'an object identifier of 320 KiB',
    rule: 'request',
    pem: pemOf(nodeName, { attributes: [attribute(longOid(320 * KIB))] }),
  },
  {
    title: 'an object identifier of 11 KiB',
    rule: 'request',
    pem: pemOf(nodeName, { attributes: [attribute(longOid(11 * KIB))] }),
  },
  {
    title: 'an attribute of 0.6 MiB',
    rule: 'request',
    pem: pemOf(nodeName, {
      attributes: [attribute(oid('2a03'), encode(TAGS.octetString, Buffer.alloc(600 * KIB)))],
    }),
  },
  {
    title: 'a subject of 700 parts',
    rule: 'request',
    pem: pemOf(nodeName, { subject: Array.from({ length: 700 }, () => part(ORGANIZATION, 'o')) }),
  },
  {
    title: '600 attributes',
    rule: 'request',
    pem: pemOf(nodeName, { attributes: Array.from({ length: 600 }, () => attribute(oid('2a03'))) }),
  },
  {
    title: 'an RSA key with an exponent of 3072 bits',
    rule: 'key',
    pem: pemOf(nodeName, { key: rsaKey(3072, number(3072)), signatureBytes: 384 }),
  },
  {
    title: 'an RSA key of 16384 bits',
    rule: 'signature',
    pem: pemOf(nodeName, { key: rsaKey(16_384, EXPONENT), signatureBytes: 2048 }),
  },
];
