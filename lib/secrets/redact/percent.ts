import type { SecretRule } from './rule.ts';

/** Nothing shorter is a document with a secret in it. */
const MIN_WORD = 16;
/** Codes of what documents, URLs and base64 have in them, and what is encoded twice. */
const TELLING = new Set(['22', '25', '2b', '2f', '3a', '3d', '7b', '0a', '5b', '5c', '26']);
/** What a percent-encoded value does not have in it. */
const OUTSIDE = new Set(' \t\n\v\f\r\u00a0\0"\'`<>&?;,()[]{}=:\\');

/** Percent-encoded words, such as a document in a URL: removed if there is a secret in them. */
export const PERCENT: SecretRule = {
  triggers: ['%'],
  inLine: (line, at, inside) => {
    if (!TELLING.has(line.slice(at + 1, at + 3).toLowerCase())) return { next: at, secrets: [] };
    let start = at;
    while (start > 0 && !OUTSIDE.has(line.charAt(start - 1))) start--;
    let next = at;
    while (next < line.length && !OUTSIDE.has(line.charAt(next))) next++;
    const found =
      next - start < MIN_WORD ? undefined : inside(decodedWord(line.slice(start, next)));
    if (found === undefined) return { next, secrets: [] };
    // A file is shown without its secrets.
    const isFile = /data:[^\s,]{0,80},$/i.test(line.slice(Math.max(0, start - 100), start));
    const safe = Buffer.from(found.text, 'latin1').toString('utf8');
    const mark = isFile ? encodeURIComponent(safe) : found.mark;
    return { next, secrets: [{ start, end: next, mark }] };
  },
};

/** As latin1; what is not percent-encoding stays. */
const decodedWord = (word: string): string =>
  word.replace(/%[0-9a-f]{2}/gi, (code) => String.fromCharCode(Number.parseInt(code.slice(1), 16)));

export const percentDecoded = (text: string): string =>
  Buffer.from(decodedWord(text), 'latin1').toString('utf8');
