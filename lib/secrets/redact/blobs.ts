import { isHexadecimal } from '../bytes/base64-text.ts';
import type { Budget } from '../bytes/budget.ts';
import { holdsMarker } from '../bytes/markers.ts';
import { packedIn, unpack } from '../bytes/packed.ts';
import { beginsPrivateKey, privateKeyMarkers } from '../bytes/private-keys.ts';

/** Whatever unpacks to more than this many times its size is neither a log nor a manifest. */
const MAX_RATIO = 200;
/**
 * What each attempt to unpack costs, however little comes out: bytes that look like the beginning
 * of a gzip member are cheap to write and expensive to read.
 */
const ATTEMPT_BYTES = 1 << 15;
/** By the first byte: white space, printable, the first of a longer character, DER, gzip or zstd; a path begins with another. */
const BEGINS_DOCUMENT = /^[CDHI-fw-z0-9]/;
/** What a document does not begin with: control characters but white space. */
const NO_TEXT = /[^\P{Cc}\t\n\r\x80-\x9f]/u;

/**
 * What base64 text stands for: the document, if it is text or packed; `secret` if it holds a
 * private key, or expands to more than the budget allows to look at; undefined for digests and
 * other random bytes.
 */
export function decodedBlob(text: string, budget: Budget): Buffer | 'secret' | undefined {
  if (isHexadecimal(text) || !BEGINS_DOCUMENT.test(text)) return undefined;
  const bytes = Buffer.from(text, 'base64');
  if (beginsPrivateKey(bytes)) return 'secret';
  if (beginsText(bytes)) {
    return budget.spend(bytes.length) ? bytes : 'secret';
  }
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

/** Most of what begins a text in any encoding is ASCII or UTF-8; of a path that is read as base64, half is not. */
function beginsText(bytes: Buffer): boolean {
  const begin = bytes.toString('utf8', 0, 64);
  return !NO_TEXT.test(begin) && begin.split('\ufffd').length <= 1 + begin.length / 4;
}
