import { createECDH, createHash, createPublicKey } from 'node:crypto';
import { type Finder, markerFinder } from './finder.ts';

interface Curve {
  readonly name: string;
  /** Bytes of the private number. */
  readonly size: number;
  /** A SubjectPublicKeyInfo up to its uncompressed point. */
  readonly publicPrefix: Buffer;
}

const curves: readonly Curve[] = [
  {
    name: 'prime256v1',
    size: 32,
    publicPrefix: Buffer.from('3059301306072a8648ce3d020106082a8648ce3d030107034200', 'hex'),
  },
  {
    name: 'secp384r1',
    size: 48,
    publicPrefix: Buffer.from('3076301006072a8648ce3d020106052b81040022036200', 'hex'),
  },
];

/** INTEGER 1 (the version), then the head of an OCTET STRING: RFC 5915, ECPrivateKey. */
const ecMarker = (size: number) => Buffer.from([0x02, 0x01, 0x01, 0x04, size]);

/**
 * INTEGER 0 (the version), then the head of the modulus: RFC 8017, RSAPrivateKey.
 * 82: a length of two bytes, 2048 bits and more; 81: of one, 1024 bits.
 */
const rsaMarkers = [Buffer.from('0201000282', 'hex'), Buffer.from('0201000281', 'hex')];

/** What every private key in DER holds one of. */
export const privateKeyMarkers: readonly Buffer[] = [
  ...curves.map(({ size }) => ecMarker(size)),
  ...rsaMarkers,
];

const rsaVersionBytes = 3;
/** An RSA modulus of 16384 bits, an exponent, and their heads. */
const maxRsaPublicBytes = 2048 + 64;

/**
 * Finders of private keys in DER. They look for the innermost structure, which
 * PKCS#8 wraps as it is, and compute the public half from it: nothing around it has
 * to be whole.
 *
 * @param found is given the sha256 (hex) of the key's SubjectPublicKeyInfo.
 */
export function privateKeyFinders(found: (fingerprint: string) => void): Finder[] {
  const report = (spki: Buffer | undefined) => {
    if (spki !== undefined) found(createHash('sha256').update(spki).digest('hex'));
  };
  return [
    ...curves.map((curve) => {
      const marker = ecMarker(curve.size);
      return markerFinder(marker, (window, at) => {
        const start = at + marker.length;
        if (window.length < start + curve.size) return 'more';
        report(ecPublicKey(curve, window.subarray(start, start + curve.size)));
        return 'seen';
      });
    }),
    ...rsaMarkers.map((marker) =>
      markerFinder(marker, (window, at) => {
        const spki = rsaPublicKey(window.subarray(at + rsaVersionBytes));
        if (spki === undefined && window.length - at < maxRsaPublicBytes) return 'more';
        report(spki);
        return 'seen';
      }),
    ),
  ];
}

/** Undefined when the number is no private key of the curve. */
function ecPublicKey(curve: Curve, privateNumber: Buffer): Buffer | undefined {
  const pair = createECDH(curve.name);
  try {
    pair.setPrivateKey(privateNumber);
  } catch {
    return undefined;
  }
  return Buffer.concat([curve.publicPrefix, pair.getPublicKey()]);
}

/** From bytes that begin with the modulus; undefined when they hold no RSA key, or end too soon. */
function rsaPublicKey(bytes: Buffer): Buffer | undefined {
  const modulus = integerAt(bytes, 0);
  if (modulus === undefined) return undefined;
  const exponent = integerAt(bytes, modulus.end);
  // A third INTEGER, the private exponent, follows.
  if (exponent === undefined || exponent.value.length > 8) return undefined;
  if (headAt(bytes, exponent.end, tags.integer) === undefined) return undefined;
  const jwk = {
    kty: 'RSA',
    n: modulus.value.toString('base64url'),
    e: exponent.value.toString('base64url'),
  };
  try {
    return createPublicKey({ key: jwk, format: 'jwk' }).export({ type: 'spki', format: 'der' });
  } catch {
    return undefined;
  }
}

/** A DER INTEGER without the sign byte, and where it ends. */
function integerAt(bytes: Buffer, at: number): { value: Buffer; end: number } | undefined {
  const head = headAt(bytes, at, tags.integer);
  if (head === undefined) return undefined;
  const end = head.start + head.length;
  if (head.length === 0 || end > bytes.length) return undefined;
  const start = bytes[head.start] === 0 ? head.start + 1 : head.start;
  return { value: bytes.subarray(start, end), end };
}

const tags = { integer: 0x02, sequence: 0x30 } as const;

/** Where the contents of an element of DER begin, and their length, of up to two bytes. */
function headAt(
  bytes: Buffer,
  at: number,
  expected: number,
): { start: number; length: number } | undefined {
  if (bytes[at] !== expected || at + 4 > bytes.length) return undefined;
  const [, first = 0, second = 0, third = 0] = bytes.subarray(at, at + 4);
  if (first < 0x80) return { start: at + 2, length: first };
  if (first === 0x81) return { start: at + 3, length: second };
  if (first === 0x82) return { start: at + 4, length: second * 256 + third };
  return undefined;
}

const openSshMagic = Buffer.from('openssh-key-v1\0');
/** The algorithm of an encrypted PKCS #8 key (PBES2). */
const pbes2 = Buffer.from('06092a864886f70d01050d', 'hex');
/** Of PKCS #1 and #8, SEC 1, PKCS #12. */
const versions = [0, 1, 3];

/**
 * Whether the bytes begin as a private key of any kind does, encrypted or not. PKCS #1, SEC 1 and PKCS #8 begin with a sequence whose first member
 * is the version, as PKCS #12 does; a certificate's is another sequence. The rest may be cut off.
 */
export function beginsPrivateKey(bytes: Buffer): boolean {
  if (bytes[0] === openSshMagic[0] && beginsWith(bytes, openSshMagic)) return true;
  const outer = headAt(bytes, 0, tags.sequence)?.start;
  if (outer === undefined) return false;
  const version = headAt(bytes, outer, tags.integer);
  if (version?.length === 1 && bytes.length > outer + 24) {
    return versions.includes(bytes[version.start] ?? -1);
  }
  const inner = headAt(bytes, outer, tags.sequence)?.start;
  return inner !== undefined && beginsWith(bytes.subarray(inner), pbes2);
}

const beginsWith = (bytes: Buffer, beginning: Buffer) =>
  bytes.subarray(0, beginning.length).equals(beginning);
