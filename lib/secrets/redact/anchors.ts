import type { LineSecret } from './line-rule.ts';
import type { TextLine, TextLines } from './text-lines.ts';
import { valueAt } from './value-extent.ts';

const ALIAS = /^\*(?<name>[\w.-]{1,64})$/;

/** What a YAML alias stands for; undefined if the value is not an alias, or its anchor is not found. */
export function aliased(value: string, line: TextLine, lines: TextLines): LineSecret | undefined {
  const name = ALIAS.exec(value)?.groups?.name;
  if (name === undefined) return undefined;
  const anchor = `&${name} `;
  const above = lines.lastWith(anchor, line);
  if (above === undefined) return undefined;
  const read = valueAt(above.text, above.text.indexOf(anchor), 'line');
  return read === undefined ? undefined : { ...read.value, line: above };
}
