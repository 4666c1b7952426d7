const PERCENT = 0x25;
/** Codes of what documents, URLs and base64 have in them, and what is encoded twice. */
const TELLING = new Set(['22', '25', '2b', '2f', '3a', '3d', '7b', '0a', '5b', '5c', '26']);
/** What a percent-encoded value does not have in it. */
const OUTSIDE = new Set(' \t\n\v\f\r\u00a0\0"\'`<>&?;,()[]{}=:\\');

/** Where percent-encoded text stands that may be a document. */
export function percentSigns(bytes: Buffer): number[] {
  const offsets: number[] = [];
  for (let at = bytes.indexOf(PERCENT); at !== -1; at = bytes.indexOf(PERCENT, at + 1)) {
    const code = bytes.toString('latin1', at + 1, at + 3);
    if (TELLING.has(code.toLowerCase())) offsets.push(at);
  }
  return offsets;
}

/** The percent-encoded word around an offset. */
export function wordAround(line: string, offset: number): { start: number; end: number } {
  let start = offset;
  while (start > 0 && !OUTSIDE.has(line.charAt(start - 1))) start--;
  let end = offset;
  while (end < line.length && !OUTSIDE.has(line.charAt(end))) end++;
  return { start, end };
}

/** The decoded text, from latin1; what is not percent-encoding stays. */
export function decodedWord(word: string): Buffer {
  const decoded = word.replace(/%[0-9a-f]{2}/gi, (code) =>
    String.fromCharCode(Number.parseInt(code.slice(1), 16)),
  );
  return Buffer.from(decoded, 'latin1');
}
