import { printable } from '../../base/printable.ts';

/** A warning of the API is a sentence; what is longer is cut. */
const LONGEST = 300;
/** The API server itself sends 4096 characters at most. */
const MOST = 20;

/** `299 - "text"`, with `\` before quotes in the text (RFC 9111, 5.5); an agent may be named, and a date follow. */
const WARNING = /\b\d{3} \S+ "((?:[^"\\]|\\.)*)"/g;

/** The texts of a response's `Warning` headers, as they can be shown: printable, cut, each once. */
export function warningTexts(headers: readonly string[] = []): string[] {
  const texts = headers.flatMap((header) =>
    Array.from(header.matchAll(WARNING), ([, text = '']) => shown(text.replaceAll(/\\(.)/g, '$1'))),
  );
  return [...new Set(texts)].slice(0, MOST);
}

/** One line that a terminal and the journal only show. */
export function shown(text: string, longest = LONGEST): string {
  const line = printable(text.replaceAll(/\s+/g, ' '));
  return line.length <= longest ? line : `${line.slice(0, longest)} …`;
}
