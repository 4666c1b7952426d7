import { isHexadecimal } from '../bytes/base64-text.ts';
import type { Budget } from '../bytes/budget.ts';
import { holdsMarker } from '../bytes/markers.ts';
import { packedIn, unpack } from '../bytes/packed.ts';
import { beginsPrivateKey, privateKeyMarkers } from '../bytes/private-keys.ts';
import type { Base64Run } from './base64-runs.ts';

/** Whatever unpacks to more than this many times its size is neither a log nor a manifest. */
const MAX_RATIO = 200;

/**
 * What each attempt to unpack costs, however little comes out: bytes that look like the beginning
 * of a gzip member are cheap to write and expensive to read.
 */
const ATTEMPT_BYTES = 1 << 15;

/** Texts that identify a document in base64 where something in front of it looks like base64 too. */
const BEGINNINGS = ['LS0tLS1', 'H4sI', 'KLUv/'];

/** By the first byte: white space, printable, the first of a longer character, DER, gzip or zstd; a path begins with another. */
const BEGINS_DOCUMENT = /^[CDHI-fw-z0-9]/;
const setOf = (isMember: (character: string) => boolean) =>
  Uint8Array.from({ length: 256 }, (_, byte) => (isMember(String.fromCharCode(byte)) ? 1 : 0));
/** By the first character of a text. */
const beginsDocument = setOf((character) => BEGINS_DOCUMENT.test(character));
const beginsBeginning = setOf((character) => BEGINNINGS.some((text) => text[0] === character));
const LONGEST_BEGINNING = Math.max(...BEGINNINGS.map(({ length }) => length));

/**
 * Whether a document may begin anywhere in runs of base64 that are one text. Asked first: to read them as
 * a text takes several times as long, and most are paths.
 */
export function mayHoldDocument(bytes: Buffer, runs: readonly Base64Run[]): boolean {
  const [first] = runs;
  if (first === undefined || runs.length > 1) return first !== undefined;
  if (beginsDocument[bytes[first.start] ?? 0] === 1) return true;
  for (let at = first.start + 1; at < first.end; at++) {
    if (beginsBeginning[bytes[at] ?? 0] !== 1) continue;
    // No more than that: this is called at many offsets of a long text.
    const text = bytes.toString('latin1', at, Math.min(first.end, at + LONGEST_BEGINNING));
    if (BEGINNINGS.some((beginning) => text.startsWith(beginning))) return true;
  }
  return false;
}

/**
 * What base64 text stands for: the document, if it is text or packed; `secret` if it holds a
 * private key, or expands to more than the budget allows to look at; undefined for digests and
 * other random bytes.
 */
export function decodedBlob(text: string, budget: Budget): Buffer | 'secret' | undefined {
  for (const start of documentStarts(text)) {
    const found = decoded(text.slice(start), budget);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Where in base64 text a document may begin; nowhere in a digest. */
export function documentStarts(text: string): number[] {
  if (isHexadecimal(text)) return [];
  const starts = BEGINNINGS.map((beginning) => text.indexOf(beginning)).filter((at) => at > 0);
  return BEGINS_DOCUMENT.test(text) ? [0, ...starts] : starts;
}

function decoded(text: string, budget: Budget): Buffer | 'secret' | undefined {
  const bytes = Buffer.from(text, 'base64');
  if (beginsPrivateKey(bytes)) return 'secret';
  if (isText(bytes)) return budget.spend(bytes.length) ? bytes : 'secret';
  if (!holdsMarker(bytes)) return undefined;
  if (privateKeyMarkers.some((marker) => bytes.includes(marker))) return 'secret';
  const contents: Buffer[] = [];
  for (const packed of packedIn(bytes)) {
    if (!budget.spend(ATTEMPT_BYTES)) return 'secret';
    const limit = Math.min(budget.left, bytes.length * MAX_RATIO);
    // What is cut off is read up to there.
    const unpacked = unpack(packed, { limit, isPartial: true });
    if (unpacked === undefined || unpacked === 'cut-off') continue;
    if (unpacked === 'too-large') budget.refuse();
    if (unpacked === 'too-large' || !budget.spend(unpacked.length)) return 'secret';
    contents.push(unpacked);
  }
  return contents.length === 0 ? undefined : Buffer.concat(contents);
}

const LOOKED_AT = 64;

/** By its first bytes: a document has no control characters but white space. */
function isText(bytes: Buffer): boolean {
  const end = Math.min(bytes.length, LOOKED_AT);
  for (let at = 0; at < end; at++) {
    const byte = bytes[at] ?? 0;
    if (byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d) return false;
    if (byte === 0x7f) return false;
  }
  return true;
}
