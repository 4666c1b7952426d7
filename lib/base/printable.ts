/**
 * What a terminal, a console or a viewer of the journal would interpret or not show: control characters, format
 * characters (the bidirectional ones let a line read in another order than it has), line and paragraph separators,
 * halves of surrogate pairs, and blanks that look like the usual one. Names in the API, on volumes and in files of others may have all of them.
 */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;
const UNPRINTABLE_IN_LINES = /[^\P{Cc}\n\t]|[\p{Cf}\p{Cs}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;

/** A text of one line, with an escape as in JSON, such as `\u001b`, for each character of these kinds. */
export const printable = (text: string): string => text.replace(UNPRINTABLE, escaped);

/** The same for a text that may have lines and tabs, such as a table or JSON, which stays JSON. */
export const printableLines = (text: string): string =>
  text.replaceAll('\r\n', '\n').replace(UNPRINTABLE_IN_LINES, escaped);

/** A text of any number of lines as one, such as an entry of the journal. */
export const inOneLine = (text: string): string =>
  printable(
    text
      .split(/[\r\n]+/)
      .map((line) => line.trim())
      .filter((line) => line !== '')
      .join(' | '),
  );

/** By UTF-16 code units, of which most of these characters have one. */
const escaped = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('');
