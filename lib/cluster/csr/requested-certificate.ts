import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { addressText } from '../../base/network/address.ts';
import { type Element, elementsOf, onlyElement, TAGS } from './der.ts';

/**
 * The contents of a PKCS#10 request. What decides is given as bytes, to be compared with what is
 * expected; the texts are for people.
 */
export interface RequestedCertificate {
  /** Whether the PEM has nothing else: a parser may take another block, or the text around it. */
  readonly isAlone: boolean;
  /** DER of the subject. */
  readonly subject: Buffer;
  /** In order: `['O', 'system:nodes']`, `['CN', …]`; an unknown attribute is named by its OID. */
  readonly subjectParts: readonly (readonly [type: string, value: string])[];
  /** DER of all attributes, the requested extensions among them. */
  readonly attributes: Buffer;
  /** Their OIDs in dotted form, those of the extensions instead of the attribute that has them. */
  readonly attributeTypes: readonly string[];
  /** Contents of the first extension with alternative names; undefined if there is none. */
  readonly names: Buffer | undefined;
  /** `DNS:…`, `IP:…`, `email:…`, `URI:…`, `other:…`; what cannot be read is `unreadable`. */
  readonly nameTexts: readonly string[];
  /** `EC prime256v1`, `RSA 2048`, `RSA 2048 with exponent 3`, `ed25519`. */
  readonly key: string;
  /** SHA-256 of its SubjectPublicKeyInfo, as lower-case hex. */
  readonly keySha256: string;
  /**
   * Whether the holder of the key signed it, with a hash that is not broken. Verified when it is asked for, so after
   * the key was judged: with a key of a stranger's choice that may take long.
   */
  signature(): Signature;
}

export type Signature = 'valid' | 'invalid' | 'by an algorithm that is not accepted';

/** Bytes of PEM of which more is never read: an RSA key of 16384 bits and its signature need 6000. */
const LONGEST_REQUEST = 16 << 10;
/** Of an OBJECT IDENTIFIER, in bytes. Its numbers have no limit, and their text takes the square of their length. */
const LONGEST_OID = 64;

const EXTENSION_REQUEST = '1.2.840.113549.1.9.14';
const ALTERNATIVE_NAMES = '2.5.29.17';
const SUBJECT_TYPES: Readonly<Record<string, string>> = {
  '2.5.4.3': 'CN',
  '2.5.4.6': 'C',
  '2.5.4.7': 'L',
  '2.5.4.8': 'ST',
  '2.5.4.10': 'O',
  '2.5.4.11': 'OU',
};
/** ECDSA and RSA (PKCS#1 v1.5), by OID. */
const SIGNATURES: Readonly<Record<string, { hash: string; type: 'ec' | 'rsa' }>> = {
  '1.2.840.10045.4.3.2': { hash: 'sha256', type: 'ec' },
  '1.2.840.10045.4.3.3': { hash: 'sha384', type: 'ec' },
  '1.2.840.10045.4.3.4': { hash: 'sha512', type: 'ec' },
  '1.2.840.113549.1.1.11': { hash: 'sha256', type: 'rsa' },
  '1.2.840.113549.1.1.12': { hash: 'sha384', type: 'rsa' },
  '1.2.840.113549.1.1.13': { hash: 'sha512', type: 'rsa' },
};
/** By tag: rfc822Name, dNSName, uniformResourceIdentifier, iPAddress. */
const NAME_KINDS: Readonly<Record<number, string>> = {
  129: 'email',
  130: 'DNS',
  134: 'URI',
  135: 'IP',
};

const BLOCK =
  /-----BEGIN CERTIFICATE REQUEST-----\r?\n([A-Za-z0-9+/=\r\n]+)-----END CERTIFICATE REQUEST-----/;

/** @throws Error if the text is too long, has no PKCS#10 request in PEM, or one that is not DER. */
export function readRequestedCertificate(pem: string): RequestedCertificate {
  if (pem.length > LONGEST_REQUEST) {
    throw new Error(`it has ${pem.length} bytes, and at most ${LONGEST_REQUEST} are read`);
  }
  const block = BLOCK.exec(pem);
  if (block?.[1] === undefined) throw new Error('it has no PEM block of a certificate request');
  const request = parts(onlyElement(Buffer.from(block[1], 'base64'), TAGS.sequence).contents, 3);
  const [info, algorithm, signature] = request;
  const [, subject, publicKey, attributes] = parts(info.contents, 4);
  const key = createPublicKey({ key: publicKey.bytes, format: 'der', type: 'spki' });
  const { types, names } = readAttributes(attributes);
  return {
    isAlone: pem.trim() === block[0],
    subject: subject.bytes,
    subjectParts: readSubject(subject),
    attributes: attributes.bytes,
    attributeTypes: types,
    names,
    nameTexts: names === undefined ? [] : readNames(names),
    key: describeKey(key, publicKey.bytes),
    keySha256: createHash('sha256').update(publicKey.bytes).digest('hex'),
    signature: () => signatureOf(info, algorithm, signature, key),
  };
}

/** Exactly so many elements. */
function parts(bytes: Buffer, count: 3): [Element, Element, Element];
function parts(bytes: Buffer, count: 4): [Element, Element, Element, Element];
function parts(bytes: Buffer, count: number): Element[] {
  const found = elementsOf(bytes);
  if (found.length !== count) throw new Error('its structure is unexpected');
  return found;
}

function readSubject(subject: Element): [type: string, value: string][] {
  return elementsOf(subject.contents)
    .flatMap(({ contents }) => elementsOf(contents))
    .map(({ contents }) => {
      const [type, value] = elementsOf(contents);
      const oid = oidText(type);
      return [SUBJECT_TYPES[oid] ?? oid, value?.contents.toString() ?? ''];
    });
}

function readAttributes({ contents }: Element): { types: string[]; names: Buffer | undefined } {
  const types: string[] = [];
  let names: Buffer | undefined;
  for (const attribute of elementsOf(contents)) {
    const [type, values] = elementsOf(attribute.contents);
    if (oidText(type) !== EXTENSION_REQUEST || values === undefined) {
      types.push(oidText(type));
      continue;
    }
    for (const extension of elementsOf(values.contents).flatMap((set) =>
      elementsOf(set.contents),
    )) {
      const fields = elementsOf(extension.contents);
      types.push(oidText(fields[0]));
      if (oidText(fields[0]) === ALTERNATIVE_NAMES) names ??= fields.at(-1)?.contents;
    }
  }
  return { types, names };
}

function readNames(names: Buffer): string[] {
  try {
    return elementsOf(onlyElement(names, TAGS.sequence).contents).map(({ tag, contents }) => {
      const kind = NAME_KINDS[tag] ?? 'other';
      if (kind === 'other') return `other:${contents.toString('hex')}`;
      return `${kind}:${kind === 'IP' ? addressText(contents) : contents.toString()}`;
    });
  } catch {
    return ['unreadable'];
  }
}

/** `spki` as in the request: a key in another encoding than its only DER one is none. */
function describeKey(key: KeyObject, spki: Buffer): string {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  const encoded = key.export({ type: 'spki', format: 'der' });
  const text =
    type === 'ec'
      ? `EC ${details?.namedCurve}`
      : type === 'rsa'
        ? `RSA ${details?.modulusLength}${exponentOf(details?.publicExponent)}`
        : `${type}`;
  return encoded.equals(spki) ? text : `${text} in an unusual encoding`;
}

const exponentOf = (exponent: bigint | undefined): string =>
  exponent === 65_537n ? '' : ` with exponent ${exponent}`;

function signatureOf(
  info: Element,
  algorithm: Element,
  { tag, contents }: Element,
  key: KeyObject,
): Signature {
  const accepted = SIGNATURES[oidText(elementsOf(algorithm.contents)[0])];
  if (accepted === undefined || accepted.type !== key.asymmetricKeyType) {
    return 'by an algorithm that is not accepted';
  }
  // A BIT STRING begins with the number of its unused bits.
  const isWhole = tag === TAGS.bitString && contents.at(0) === 0;
  const isValid = isWhole && verify(accepted.hash, info.bytes, key, contents.subarray(1));
  return isValid ? 'valid' : 'invalid';
}

/** Dotted; empty if the element is no OID. @throws Error if it is too long */
function oidText(element: Element | undefined): string {
  if (element?.tag !== TAGS.oid) return '';
  if (element.contents.length > LONGEST_OID) {
    throw new Error(`an object identifier has more than ${LONGEST_OID} bytes`);
  }
  const [head = 0n, ...rest] = oidNumbers(element.contents);
  const first = head < 80n ? head / 40n : 2n;
  return [first, head - first * 40n, ...rest].join('.');
}

function oidNumbers(contents: Buffer): bigint[] {
  const numbers: bigint[] = [];
  let number = 0n;
  for (const octet of contents) {
    number = number * 128n + BigInt(octet & 0x7f);
    if (octet >= 0x80) continue;
    numbers.push(number);
    number = 0n;
  }
  return numbers;
}
