const PERCENT = 0x25;
/** Codes of what documents, URLs and base64 have in them, and what is encoded twice. */
const TELLING = new Set([0x22, 0x25, 0x2b, 0x2f, 0x3a, 0x3d, 0x7b, 0x0a]);
/** What a percent-encoded value does not have in it: by code, as a line is latin1. */
const outside = new Uint8Array(256);
for (const char of ' \t\n\v\f\r\u00a0\0"\'`<>&?;,()[]{}=:\\') outside[char.charCodeAt(0)] = 1;

/** Where percent-encoded text stands that may be a document. */
export function percentSigns(bytes: Buffer): number[] {
  const offsets: number[] = [];
  for (let at = bytes.indexOf(PERCENT); at !== -1; at = bytes.indexOf(PERCENT, at + 1)) {
    const code = digitOf(bytes[at + 1] ?? 0) * 16 + digitOf(bytes[at + 2] ?? 0);
    if (TELLING.has(code)) offsets.push(at);
  }
  return offsets;
}

/** The percent-encoded word around an offset. */
export function wordAround(line: string, offset: number): { start: number; end: number } {
  let start = offset;
  while (start > 0 && outside[line.charCodeAt(start - 1)] !== 1) start--;
  let end = offset;
  while (end < line.length && outside[line.charCodeAt(end)] !== 1) end++;
  return { start, end };
}

/** What it stands for; what is no percent-encoding in it stays. */
export function decodedWord(word: string): Buffer {
  const bytes = Buffer.allocUnsafe(word.length);
  let length = 0;
  for (let at = 0; at < word.length; at++) {
    const code = word.charCodeAt(at);
    const high = code === PERCENT ? digitOf(word.charCodeAt(at + 1)) : -1;
    const low = high === -1 ? -1 : digitOf(word.charCodeAt(at + 2));
    if (low !== -1) at += 2;
    bytes[length++] = low === -1 ? code : high * 16 + low;
  }
  return bytes.subarray(0, length);
}

/** Of a hexadecimal digit; -1 for any other character, or none. */
function digitOf(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x61 + 10 : -1;
}
