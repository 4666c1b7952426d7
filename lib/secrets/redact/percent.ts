import { type EncodedText, within } from './rule.ts';

/** Nothing shorter is a document with a secret in it. */
const MIN_WORD = 16;
/** Codes of what documents, URLs and base64 have in them, and what is encoded twice. */
const TELLING = /^%(?:2[256bf]|3[ad]|7b|0a|5[bc])/i;
/** What a percent-encoded value does not have in it. */
const OUTSIDE = /[ \t\n\v\f\r\u00a0\0"'`<>&?;,()[\]{}=:\\]/;

/** Percent-encoded words, such as a document in a URL. */
export function* percentTexts(bytes: Buffer): Generator<EncodedText> {
  const isInside = (at: number) => !OUTSIDE.test(String.fromCharCode(bytes[at] ?? 0));
  for (let at = bytes.indexOf('%'); at !== -1; at = bytes.indexOf('%', at)) {
    let start = at++;
    if (!TELLING.test(bytes.toString('latin1', start, start + 3))) continue;
    while (isInside(start - 1)) start--;
    while (isInside(at)) at++;
    if (at - start < MIN_WORD) continue;
    const document = Buffer.from(decodedWord(bytes.toString('latin1', start, at)), 'latin1');
    // A file is shown without its secrets.
    const isFile = /data:[^\s,]{0,80},$/i.test(bytes.toString('latin1', start - 100, start));
    yield {
      runs: [{ start, end: at }],
      meanings: (budget) => [within(budget, document)],
      inFile: isFile ? (safe) => encodeURIComponent(safe.toString('utf8')) : undefined,
    };
  }
}

/** As latin1; what is not percent-encoding stays. */
const decodedWord = (word: string): string =>
  word.replace(/%[0-9a-f]{2}/gi, (code) => String.fromCharCode(Number.parseInt(code.slice(1), 16)));

export const percentDecoded = (text: string): string =>
  Buffer.from(decodedWord(text), 'latin1').toString('utf8');
