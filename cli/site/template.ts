import { isScalar, parseDocument, type Scalar, visit } from 'yaml';

/** `${column}` in a value. */
const PLACEHOLDER = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** The columns that a template uses. */
export function placeholdersIn(template: string): string[] {
  return [...new Set(scalarsOf(template).flatMap(({ source }) => namesIn(source)))];
}

const namesIn = (text: string): string[] =>
  Array.from(text.matchAll(PLACEHOLDER), ([, name = '']) => name);

/**
 * A template with the cells of one row. Only values are replaced, never keys or comments, and a cell is never more than
 * one value, whatever is in it, or a part of a line of a text: lines and fields stay where they are. A value that is nothing but a placeholder without
 * quotes becomes a number, true or false if the cell is one, and is omitted if the cell is empty.
 */
export const filledTemplate = (template: string, row: Cells): string => fillerOf(template)(row);

type Cells = Readonly<Record<string, string>>;

/** The same for many rows: the template is read once. */
export function fillerOf(template: string): (row: Cells) => string {
  const places = scalarsOf(template)
    .filter(({ source }) => namesIn(source).length > 0)
    .toReversed();
  return (row) => {
    const fill = (given: string) =>
      given.replaceAll(PLACEHOLDER, (whole, name: string) => row[name] ?? whole);
    let text = template;
    for (const { start, end, source, value, isPlain, isBlock } of places) {
      const filled = isBlock ? fill(source) : asValue(value, fill(value), isPlain);
      text = text.slice(0, start) + filled + text.slice(end);
    }
    return text;
  };
}

interface Place {
  readonly start: number;
  readonly end: number;
  readonly source: string;
  readonly value: string;
  readonly isPlain: boolean;
  readonly isBlock: boolean;
}

/** The values of a document, in the order of the text. */
function scalarsOf(template: string): Place[] {
  const places: Place[] = [];
  const document = parseDocument(template, { uniqueKeys: false, prettyErrors: false });
  visit(document, {
    Scalar(key, node: Scalar) {
      const [start, end] = node.range ?? [];
      if (key === 'key' || !isScalar(node) || typeof node.value !== 'string') return;
      if (start === undefined || end === undefined) return;
      places.push({
        start,
        end,
        source: template.slice(start, end),
        value: node.value,
        isPlain: node.type === 'PLAIN',
        isBlock: node.type === 'BLOCK_LITERAL' || node.type === 'BLOCK_FOLDED',
      });
    },
  });
  return places.toSorted((a, b) => a.start - b.start);
}

const NUMBER = /^(0|[1-9]\d{0,14})$/;

function asValue(template: string, filled: string, isPlain: boolean): string {
  const isWhole = isPlain && /^\$\{\w+\}$/.test(template);
  if (isWhole && (filled === '' || NUMBER.test(filled) || /^(true|false)$/.test(filled))) {
    return filled;
  }
  return JSON.stringify(filled);
}
