import type { InLine, Span } from './line-rule.ts';
import { isPath, isReference, isSecretValue, type Sensitivity } from './names.ts';
import { isProse } from './prose.ts';
import type { TextLine } from './text-lines.ts';
import { type Value, wholeEnd } from './value-extent.ts';

/** The name of an assignment, and where it stands in its line. */
export interface Name extends Span {
  readonly text: string;
  readonly sensitivity: Sensitivity;
}

/** The value that was read, if it must be removed. */
export function ofValue(
  name: Pick<Name, 'text'>,
  { value, isQuoted }: Value,
  line: TextLine,
  canBeProse: boolean,
): InLine | undefined {
  const { text } = line;
  const start = value.start;
  if (!isSecretValue(name.text, text.slice(start, value.end))) return undefined;
  if (!isQuoted && ((canBeProse && isProse(text, value)) || isElsewhere(text, value))) {
    return undefined;
  }
  const end = isQuoted ? value.end : wholeEnd(text, value);
  return { next: end, secrets: [{ start, end }] };
}

/** Whether the first of several words says where the value comes from. */
function isElsewhere(line: string, { start, end }: Span): boolean {
  const word = /^\S{1,512}(?=\s)/.exec(line.slice(start, end))?.[0];
  return word !== undefined && (isPath(word) || isReference(word));
}
