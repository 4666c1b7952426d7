import { gunzipSync } from 'node:zlib';

/** A document in a document in a document; deeper nobody looks. */
export const MAX_DEPTH = 3;
const MAX_UNPACKED = 4 << 20;
/** What unpacks to more than this many times its size is no log and no manifest. */
const MAX_RATIO = 200;

/** Texts by which a document in base64 is told, where something else in front is base64 by its look too. */
const BEGINNINGS = ['LS0tLS1', 'H4sI'];

/** By the first byte: white space, printable, the first of a longer character, DER or gzip; a path begins with another. */
const BEGINS_DOCUMENT = /^[CDHI-fw-z0-9]/;

/**
 * What base64 text stands for: the document, if it is text, gzipped or not; `secret` if it is a
 * private key in DER, an OpenSSH key, or gzip that unpacks to more than can be looked at;
 * undefined for digests and other random bytes.
 */
export function decodedBlob(text: string): Buffer | 'secret' | undefined {
  if (/^[0-9a-f]+$/i.test(text)) return undefined;
  const starts = BEGINNINGS.map((beginning) => text.indexOf(beginning)).filter((at) => at > 0);
  for (const start of [...(BEGINS_DOCUMENT.test(text) ? [0] : []), ...starts]) {
    const found = decoded(text.slice(start));
    if (found !== undefined) return found;
  }
  return undefined;
}

function decoded(text: string): Buffer | 'secret' | undefined {
  const bytes = Buffer.from(text, 'base64');
  if (isPrivateKey(bytes)) return 'secret';
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return isText(bytes) ? bytes : undefined;
  const limit = Math.min(MAX_UNPACKED, bytes.length * MAX_RATIO);
  try {
    // What is cut off is read up to there.
    const document = gunzipSync(bytes, { maxOutputLength: limit, finishFlush: 2 });
    return isText(document) ? document : undefined;
  } catch (error) {
    const isLarge = error instanceof RangeError;
    return isLarge ? 'secret' : undefined;
  }
}

const OPENSSH = Buffer.from('openssh-key-v1\0');
/** The algorithm of an encrypted PKCS #8 key (PBES2). */
const PBES2 = Buffer.from('06092a864886f70d01050d', 'hex');

/**
 * PKCS #1, SEC 1 and PKCS #8 begin with a sequence whose first member is the version, as
 * PKCS #12 does; a certificate's is another sequence. The beginning is enough: the rest may be cut off.
 */
function isPrivateKey(bytes: Buffer): boolean {
  if (bytes.subarray(0, OPENSSH.length).equals(OPENSSH)) return true;
  const outer = contentOf(bytes, 0);
  if (outer === undefined) return false;
  if (bytes[outer] === 0x02) {
    const version = bytes[outer + 2] ?? 0xff;
    return bytes[outer + 1] === 1 && [0, 1, 3].includes(version) && bytes.length > outer + 24;
  }
  const inner = contentOf(bytes, outer);
  return inner !== undefined && bytes.subarray(inner, inner + PBES2.length).equals(PBES2);
}

/** Where the contents of the sequence at `at` begin. */
function contentOf(der: Buffer, at: number): number | undefined {
  const length = der[at + 1];
  if (der[at] !== 0x30 || length === undefined) return undefined;
  if (length < 0x80) return at + 2;
  return length === 0x81 || length === 0x82 ? at + 2 + (length & 0x7f) : undefined;
}

/** By its first bytes: a document has no control characters but white space. */
function isText(bytes: Buffer): boolean {
  for (const byte of bytes.subarray(0, 64)) {
    if (byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d) return false;
    if (byte === 0x7f) return false;
  }
  return bytes.length > 0;
}
