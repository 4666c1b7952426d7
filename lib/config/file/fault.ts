import { printable } from '../../base/printable.ts';

/** A fault in the user's input, with its position for an editor. */
export interface Fault {
  /** Absent for input outside of the file. */
  position?: { line: number; column: number };
  /** `path.to.field`, with list positions as `[0]`; or the name of an environment variable. */
  field: string;
  expected: string;
  found: string;
  /** One imperative sentence. */
  fix: string;
}

/** Enough for any file written by a person; more would hide the first ones. */
const MOST_SHOWN = 50;
const LONGEST_TEXT = 60;
const LONGEST_FIELD = 200;

/** `FILE:LINE:COL path.to.field: expected …, found …. <fix>`, always one line. */
export function faultText({ position, field, expected, found, fix }: Fault, file: string): string {
  const place = position === undefined ? '' : `${file}:${position.line}:${position.column} `;
  return printable(`${place}${field}: expected ${expected}, found ${found}. ${fix}`);
}

/** The first of many faults, and the number of the others. */
export function firstOf(texts: readonly string[]): string[] {
  const more = texts.length - MOST_SHOWN;
  return more <= 0 ? [...texts] : [...texts.slice(0, MOST_SHOWN), `... and ${more} more`];
}

/** In the order of the file; faults without a position come last. */
export function inOrder(faults: readonly Fault[]): Fault[] {
  const end = { line: Number.MAX_SAFE_INTEGER, column: 0 };
  return faults.toSorted(({ position: a = end }, { position: b = end }) =>
    a.line === b.line ? a.column - b.column : a.line - b.line,
  );
}

/** The first fault of each field: one suffices. */
export function onePerPlace(faults: readonly Fault[]): Fault[] {
  const seen = new Map<string, Fault>();
  for (const fault of faults) {
    const place = JSON.stringify([fault.position, fault.field]);
    if (!seen.has(place)) seen.set(place, fault);
  }
  return [...seen.values()];
}

/** The path in the notation of people; `(file)` for the whole file. */
export function fieldName(path: readonly PropertyKey[]): string {
  if (path.length === 0) return '(file)';
  const name = path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    const key = String(part);
    if (!/^[\w-]+$/.test(key)) return `${text}[${quoted(key)}]`;
    return text === '' ? key : `${text}.${key}`;
  }, '');
  return name.length > LONGEST_FIELD ? `${name.slice(0, LONGEST_FIELD)}...` : name;
}

/** The value in words; never that of a secret. */
export function foundText(value: unknown, secret = false): string {
  if (value === undefined || value === null) return 'nothing';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (typeof value === 'object') {
    return Object.keys(value).length === 0 ? 'an empty mapping' : 'a mapping';
  }
  if (typeof value !== 'string') return String(value);
  return secret ? `a string of ${value.length} characters` : quoted(value);
}

function quoted(text: string): string {
  const short = text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT - 3)}...` : text;
  return JSON.stringify(short);
}
