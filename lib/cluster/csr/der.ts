/**
 * The part of DER that certificate requests need. Encodings that BER allows besides, such as lengths
 * with leading zeros, are refused: what is compared as bytes has one encoding.
 */
export interface Element {
  /** Identifier octet, such as 0x30 for a SEQUENCE. */
  readonly tag: number;
  readonly contents: Buffer;
  /** With its identifier and length. */
  readonly bytes: Buffer;
}

export const TAGS = {
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  oid: 0x06,
  utf8String: 0x0c,
  printableString: 0x13,
  sequence: 0x30,
  set: 0x31,
} as const;

/** Tag numbers from 31 have more than one identifier octet; nothing in a request has one. */
const LONG_TAG = 0x1f;
const LONG_LENGTH = 0x80;

/** Nothing in a request has as many parts: whoever sends more wants to keep the reader busy. */
const MOST_ELEMENTS = 64;

/** The elements of which the bytes consist. @throws Error if they do not consist of DER elements, or of too many */
export function elementsOf(bytes: Buffer): Element[] {
  const found: Element[] = [];
  for (let at = 0; at < bytes.length; ) {
    if (found.length === MOST_ELEMENTS) {
      throw new Error(`one of its parts has more than ${MOST_ELEMENTS} elements`);
    }
    const element = elementAt(bytes, at);
    found.push(element);
    at += element.bytes.length;
  }
  return found;
}

/** The only element of the bytes, with that tag. @throws Error like elementsOf, or if it is another */
export function onlyElement(bytes: Buffer, tag: number): Element {
  const [element, ...others] = elementsOf(bytes);
  if (element?.tag !== tag || others.length > 0) throw new Error('its structure is unexpected');
  return element;
}

export function encode(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const contents = Buffer.concat(parts);
  return Buffer.concat([Buffer.of(tag), encodedLength(contents.length), contents]);
}

export const encodeText = (tag: number, text: string): Buffer => encode(tag, Buffer.from(text));

function elementAt(bytes: Buffer, at: number): Element {
  const tag = bytes.at(at) ?? LONG_TAG;
  if ((tag & LONG_TAG) === LONG_TAG) throw new Error('a tag is not supported');
  const { length, size } = lengthAt(bytes, at + 1);
  const begin = at + 1 + size;
  const end = begin + length;
  if (end > bytes.length) throw new Error('it is incomplete');
  return { tag, contents: bytes.subarray(begin, end), bytes: bytes.subarray(at, end) };
}

function lengthAt(bytes: Buffer, at: number): { length: number; size: number } {
  const first = bytes.at(at);
  if (first === undefined) throw new Error('it is incomplete');
  if (first < LONG_LENGTH) return { length: first, size: 1 };
  const digits = bytes.subarray(at + 1, at + 1 + (first - LONG_LENGTH));
  // Four bytes are more than the API server accepts; none is an indefinite length.
  if (digits.length === 0 || digits.length > 4) throw new Error('a length is not DER');
  const length = digits.readUIntBE(0, digits.length);
  const size = 1 + digits.length;
  if (!encodedLength(length).equals(bytes.subarray(at, at + size))) {
    throw new Error('a length is not DER');
  }
  return { length, size };
}

function encodedLength(length: number): Buffer {
  if (length < LONG_LENGTH) return Buffer.of(length);
  const digits = Buffer.alloc(4);
  digits.writeUInt32BE(length);
  const first = digits.findIndex((digit) => digit !== 0);
  return Buffer.concat([Buffer.of(LONG_LENGTH + 4 - first), digits.subarray(first)]);
}
