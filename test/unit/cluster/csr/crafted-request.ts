import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { encode, encodeText, TAGS } from '../../../../lib/cluster/csr/der.ts';

/**
 * PKCS#10 requests in any encoding, which no library writes. The default is what a kubelet sends for
 * a serving certificate.
 */
export interface Parts {
  readonly subject?: Buffer;
  /** Contents of the extension with the alternative names; null: no such extension. */
  readonly names?: Buffer | null;
  readonly namesAreCritical?: boolean;
  /** Further extensions, and further attributes. */
  readonly extensions?: readonly Buffer[];
  readonly attributes?: readonly Buffer[];
  readonly key?: CraftedKey;
  /** The signature: its hash, and the OID of its algorithm. */
  readonly signature?: { readonly hash: string; readonly oid: string };
}

const KEYS = {
  'P-256': () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  'P-224': () => generateKeyPairSync('ec', { namedCurve: 'P-224' }),
  'RSA-2048': () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  'RSA-1024': () => generateKeyPairSync('rsa', { modulusLength: 1024 }),
  'RSA-2048-3': () => generateKeyPairSync('rsa', { modulusLength: 2048, publicExponent: 3 }),
} satisfies Record<string, () => { publicKey: KeyObject; privateKey: KeyObject }>;
export type CraftedKey = keyof typeof KEYS;
const made = new Map<CraftedKey, ReturnType<(typeof KEYS)[CraftedKey]>>();

/** DER of a dotted OID. */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second, ...rest].flatMap((number) => {
    const digits = [number & 0x7f];
    for (let left = number >> 7; left > 0; left >>= 7) digits.unshift((left & 0x7f) | 0x80);
    return digits;
  });
  return encode(TAGS.oid, Buffer.from(bytes));
}

/** One attribute of a subject, in an RDN of its own unless `with` others. */
export const subjectPart = (type: string, value: Buffer) => encode(TAGS.sequence, oid(type), value);
export const rdn = (...parts: Buffer[]) => encode(TAGS.set, ...parts);
export const subjectOf = (...rdns: Buffer[]) => encode(TAGS.sequence, ...rdns);
export const O = '2.5.4.10';
export const CN = '2.5.4.3';
export const printable = (text: string) => encodeText(TAGS.printableString, text);

/** GeneralNames; an address of 4 or 16 bytes. */
export const namesOf = (...names: Buffer[]) => encode(TAGS.sequence, ...names);
export const dnsName = (name: string) => encodeText(0x82, name);
export const ipName = (address: string | Buffer) =>
  encode(0x87, typeof address === 'string' ? Buffer.from(address.split('.').map(Number)) : address);

export function extension(type: string, value: Buffer, isCritical = false): Buffer {
  const critical = isCritical ? [Buffer.of(0x01, 0x01, 0xff)] : [];
  return encode(TAGS.sequence, oid(type), ...critical, encode(TAGS.octetString, value));
}
export const attribute = (type: string, ...values: Buffer[]) =>
  encode(TAGS.sequence, oid(type), encode(TAGS.set, ...values));
export const EXTENSIONS = '1.2.840.113549.1.9.14';
export const NAMES = '2.5.29.17';

/** The PEM of a signed request of a node with that name and address (IPv4). */
export function craftedPem(nodeName: string, address: string, parts: Parts = {}): string {
  const { key = 'P-256', names = namesOf(dnsName(nodeName), ipName(address)) } = parts;
  const pair = made.get(key) ?? KEYS[key]();
  made.set(key, pair);
  const extensions = [
    ...(names === null ? [] : [extension(NAMES, names, parts.namesAreCritical)]),
    ...(parts.extensions ?? []),
  ];
  const attributes = [
    ...(extensions.length === 0
      ? []
      : [attribute(EXTENSIONS, encode(TAGS.sequence, ...extensions))]),
    ...(parts.attributes ?? []),
  ];
  const info = encode(
    TAGS.sequence,
    encode(TAGS.integer, Buffer.of(0)),
    parts.subject ??
      subjectOf(
        rdn(subjectPart(O, printable('system:nodes'))),
        rdn(subjectPart(CN, printable(`system:node:${nodeName}`))),
      ),
    pair.publicKey.export({ type: 'spki', format: 'der' }),
    encode(0xa0, ...attributes),
  );
  const isRsa = key.startsWith('RSA');
  const { hash, oid: algorithm } = parts.signature ?? {
    hash: 'sha256',
    oid: isRsa ? '1.2.840.113549.1.1.11' : '1.2.840.10045.4.3.2',
  };
  const request = encode(
    TAGS.sequence,
    info,
    encode(TAGS.sequence, oid(algorithm), ...(isRsa ? [Buffer.of(0x05, 0x00)] : [])),
    encode(TAGS.bitString, Buffer.of(0), sign(hash, info, pair.privateKey)),
  );
  const lines = request.toString('base64').replace(/.{64}/g, '$&\n').trimEnd();
  return `-----BEGIN CERTIFICATE REQUEST-----\n${lines}\n-----END CERTIFICATE REQUEST-----\n`;
}
