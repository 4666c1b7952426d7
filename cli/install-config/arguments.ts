import { Failure } from '../../lib/base/errors/failure.ts';

/**
 * Splits a text into arguments as a POSIX shell does, with its quotes and
 * backslashes, but expands nothing: `$`, `*` and `;` are ordinary characters.
 * @throws Failure (usage) for an unclosed quote and for control characters
 */
export function splitArguments(text: string): string[] {
  if ([...text].some((char) => char !== '\t' && char !== '\n' && char < ' ')) {
    throw new Failure('usage', 'The arguments contain a control character');
  }
  const split: string[] = [];
  let rest = text.trimStart();
  while (rest !== '') {
    let argument = '';
    while (rest !== '' && !/^\s/.test(rest)) {
      const { value, length } = nextPiece(rest);
      argument += value;
      rest = rest.slice(length);
    }
    split.push(argument);
    rest = rest.trimStart();
  }
  return split;
}

/** One quoted, escaped or plain piece of an argument, and the length of its source text. */
function nextPiece(text: string): { value: string; length: number } {
  const single = /^'([^']*)'/.exec(text);
  if (single !== null) return { value: single[1] ?? '', length: single[0].length };
  const double = /^"((?:[^"\\]|\\[\s\S])*)"/.exec(text);
  if (double !== null) {
    return { value: (double[1] ?? '').replace(/\\(["\\$`])/g, '$1'), length: double[0].length };
  }
  if (/^['"]/.test(text)) throw new Failure('usage', 'The arguments have an unclosed quote');
  if (text === '\\') throw new Failure('usage', 'The arguments end in a backslash');
  if (text.startsWith('\\')) return { value: text.slice(1, 2), length: 2 };
  const plain = /^[^\s'"\\]+/.exec(text)?.[0] ?? '';
  return { value: plain, length: plain.length };
}
