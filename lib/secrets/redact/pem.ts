import type { SecretFinding } from './finding.ts';
import { extentEnd, keyParts, MAX_MARKER, marked, tailParts } from './key-lines.ts';
import type { Marks } from './marks.ts';

/** Texts that show that a private key begins or ends in a line, also in a URL or a form. */
export const PEM_TRIGGERS = [
  'private key-----',
  'private key block-----',
  'private%20key',
  'private+key-----',
];

const MARKER =
  /-----(?<kind>BEGIN|END)(?: |%20|\+)(?:[A-Z0-9]{1,16}(?: |%20|\+)){0,3}PRIVATE(?: |%20|\+)KEY(?:(?: |%20|\+)BLOCK)?-----/y;
const NEWLINE = 0x0a;

interface Marker {
  readonly isBegin: boolean;
  readonly start: number;
  readonly end: number;
}

export interface PemKeys {
  readonly findings: readonly SecretFinding[];
  /** Where the line begins with a key that does not end in these bytes, if it can still end. */
  readonly openFrom?: number;
  /** The end of the last key without an end: the stream must not be cut before it, within the key. */
  readonly unendedTo: number;
}

/**
 * Private keys in PEM: in one line, escaped or percent-encoded, or over many, each of which may
 * have a prefix of its own, as in a journal, or be a value in a record. If the beginning of a key was cut
 * off, the lines before its end are removed if they look like lines of it. A marker is removed only
 * together with its counterpart: what belongs between them can be in other texts. `offsets`: where triggers stand.
 */
export function pemKeys(
  bytes: Buffer,
  offsets: readonly number[],
  marks: Marks,
  isLast: boolean,
): PemKeys {
  const findings: SecretFinding[] = [];
  const markers = offsets.flatMap((offset) => markerAt(bytes, offset) ?? []);
  let floor = 0;
  let unendedTo = 0;
  // Before the last line, which is not complete yet, unless these bytes end with a part of a line.
  const isWhole = isLast || bytes.at(-1) !== NEWLINE;
  const settled = isWhole ? bytes.length : bytes.lastIndexOf(NEWLINE, -2);
  const open = (from: number): PemKeys => ({
    findings,
    openFrom: bytes.lastIndexOf(NEWLINE, from) + 1,
    unendedTo,
  });
  for (const [index, marker] of markers.entries()) {
    if (marker.start < floor) continue;
    if (!marker.isBegin) {
      const tail = tailParts(bytes, marker, floor);
      const first = tail[0]?.start;
      // It is looked at again with the next bytes, and then needs the lines above it.
      if (first !== undefined && marker.end > settled) return open(first);
      findings.push(...marked(bytes, tail, marks));
      floor = marker.end;
      continue;
    }
    const extent = { start: marker.start, bodyStart: marker.end };
    const next = markers[index + 1];
    const limit = extentEnd(bytes, marker.start, next?.start);
    if (next === undefined || next.start >= limit) {
      if (limit === bytes.length && !isLast) {
        return open(marker.start);
      }
      findings.push(...keyParts(bytes, { ...extent, end: limit, isEnded: false }, marks));
      unendedTo = limit;
      continue;
    }
    // Another beginning ends it as well.
    const end = next.isBegin ? next.start : next.end;
    if (end > settled) return open(marker.start);
    findings.push(...keyParts(bytes, { ...extent, end, isEnded: !next.isBegin }, marks));
    floor = end;
  }
  return { findings, unendedTo };
}

function markerAt(bytes: Buffer, trigger: number): Marker | undefined {
  const from = Math.max(0, trigger - MAX_MARKER);
  const text = bytes.toString('latin1', from, trigger + MAX_MARKER);
  const dashes = Math.max(
    text.lastIndexOf('-----BEGIN', trigger - from),
    text.lastIndexOf('-----END', trigger - from),
  );
  MARKER.lastIndex = Math.max(0, dashes);
  const match = MARKER.exec(text);
  if (match === null) return undefined;
  const start = from + match.index;
  return { isBegin: match.groups?.kind === 'BEGIN', start, end: start + match[0].length };
}
