import type { Secret } from './line-rule.ts';
import type { TextLine, TextLines } from './text-lines.ts';
import { valueAt } from './value-extent.ts';

const ALIAS = /^\*(?<name>[\w.-]{1,64})$/;
/** No anchor stands further above its alias. */
const MAX_LINES = 500;
const MAX_LENGTH = 4096;

/** What the alias of YAML stands for; undefined if the value is none, or its anchor is not found. */
export function aliased(value: string, line: TextLine, lines: TextLines): Secret | undefined {
  const name = ALIAS.exec(value)?.groups?.name;
  if (name === undefined) return undefined;
  let above = lines.before(line);
  for (let count = 0; above !== undefined && count < MAX_LINES; count++) {
    const text = above.text.slice(0, MAX_LENGTH);
    const at = text.indexOf(`&${name} `);
    const read = at === -1 ? undefined : valueAt(text, at, 'line');
    if (read !== undefined) return { ...read.value, line: above };
    above = lines.before(above);
  }
  return undefined;
}
