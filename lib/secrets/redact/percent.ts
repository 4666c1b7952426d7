const PERCENT = 0x25;
/** Codes of what documents, URLs and base64 have in them, and what is encoded twice. */
const TELLING = new Set(['22', '25', '2b', '2f', '3a', '3d', '7b', '0a']);
/** What a percent-encoded value does not have in it. */
const OUTSIDE = /[\s\0"'`<>&?;,()[\]{}=:\\]/;

/** Where percent-encoded text stands that may be a document. */
export function percentSigns(bytes: Buffer): number[] {
  const offsets: number[] = [];
  for (let at = bytes.indexOf(PERCENT); at !== -1; at = bytes.indexOf(PERCENT, at + 1)) {
    const code = bytes.toString('latin1', at + 1, at + 3).toLowerCase();
    if (TELLING.has(code)) offsets.push(at);
  }
  return offsets;
}

/** The percent-encoded word around an offset. */
export function wordAround(line: string, offset: number): { start: number; end: number } {
  let start = offset;
  while (start > 0 && !OUTSIDE.test(line[start - 1] ?? '')) start--;
  let end = offset;
  while (end < line.length && !OUTSIDE.test(line[end] ?? '')) end++;
  return { start, end };
}

/** What it stands for; what is no percent-encoding in it stays. */
export function decodedWord(word: string): Buffer {
  const text = word.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(text, 'latin1');
}
