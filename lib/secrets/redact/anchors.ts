import type { Secret } from './line-rule.ts';
import type { TextLine, TextLines } from './text-lines.ts';
import { valueAt } from './value-extent.ts';

const ALIAS = /^\*(?<name>[\w.-]{1,64})$/;

/** What the alias of YAML stands for; undefined if the value is none, or its anchor is not found. */
export function aliased(value: string, line: TextLine, lines: TextLines): Secret | undefined {
  const name = ALIAS.exec(value)?.groups?.name;
  if (name === undefined) return undefined;
  const above = lines.lastWith(`&${name} `, line);
  const at = above?.text.indexOf(`&${name} `) ?? -1;
  const read = above === undefined || at === -1 ? undefined : valueAt(above.text, at, 'line');
  return read === undefined || above === undefined ? undefined : { ...read.value, line: above };
}
