import { parseJson } from '../../lib/base/json.ts';
import type { BundleView, Evidence } from '../bundle-view.ts';
import { textAt } from './values.ts';
import { shorten } from './words.ts';

/** Maximum number of characters shown of a line. */
const SHOWN = 300;
/** Of these, the number shown before the match. */
const BEFORE = 100;

/** `line` counts from 1; a long line is shown around `needle`. */
export function evidence(file: string, line: number, text: string, needle = ''): Evidence {
  return { file, line, text: copy(excerpt(text.trim(), needle)) };
}

/** A substring keeps its parent string in memory, which here is a whole file. */
export const copy = (part: string): string => Buffer.from(part).toString();

function excerpt(text: string, needle: string): string {
  if (text.length <= SHOWN) return text;
  const from = Math.max(0, text.indexOf(needle) - BEFORE);
  const to = Math.min(text.length, from + SHOWN);
  return `${from > 0 ? '…' : ''}${text.slice(from, to)}${to < text.length ? '…' : ''}`;
}

/** Lines of a log shown on either side of one. */
const AROUND = 2;
/** Most characters of these: they only show what the line is a part of. */
const SHOWN_AROUND = 200;

/** The lines around one of a log; nothing for other files, whose neighbours say nothing of it. */
export function around(
  view: BundleView,
  { file, line }: Evidence,
): { before?: string[]; after?: string[] } {
  if (!/\.log$|\/errors\.jsonl$/.test(file)) return {};
  const lines = view.lines(file);
  const shown = (from: number, to: number) =>
    lines.slice(from, to).map((text) => copy(shorten(readable(text), SHOWN_AROUND)));
  const [before, after] = [
    shown(Math.max(0, line - 1 - AROUND), line - 1),
    shown(line, line + AROUND),
  ];
  return {
    ...(before.length === 0 ? {} : { before }),
    ...(after.length === 0 ? {} : { after }),
  };
}

/** Of journald's JSON, the message. */
function readable(line: string): string {
  const raw = line.startsWith('{') ? parseJson(line) : undefined;
  const message = textAt(raw, 'MESSAGE');
  return message === undefined
    ? line.trim()
    : `${textAt(raw, 'SYSLOG_IDENTIFIER') ?? 'journal'}: ${message}`;
}

/** Lines of indented JSON shown together, since a single one says little. */
const JSON_LINES = 10;

/** The first line of a file that contains the text, otherwise its first line. */
export function whereSaid(view: BundleView, file: string, needle: string): Evidence[] {
  const lines = view.lines(file);
  const index = lines.findIndex((line) => line.includes(needle));
  return lineOf(lines, file, Math.max(0, index), needle);
}

const NAME = /"name": ?"([^"]+)"/;

/**
 * The same for the names of objects in a list, which may have thousands of them: the file is
 * indexed once, on first use.
 */
export function nameIndex(view: BundleView, file: string): (name: string) => Evidence[] {
  let places: Map<string, number> | undefined;
  return (name) => {
    places ??= placesOfNames(view.lines(file));
    return lineOf(view.lines(file), file, places.get(name) ?? 0, `"${name}"`);
  };
}

function placesOfNames(lines: readonly string[]): Map<string, number> {
  const places = new Map<string, number>();
  for (const [index, line] of lines.entries()) {
    const name = NAME.exec(line)?.[1];
    if (name !== undefined && !places.has(name)) places.set(name, index);
  }
  return places;
}

function lineOf(lines: readonly string[], file: string, index: number, needle: string): Evidence[] {
  const text = lines[index];
  if (text === undefined) return [];
  const isIndented = file.endsWith('.json') && /^\s/.test(text);
  return [evidence(file, index + 1, isIndented ? nearby(lines, index) : text, needle)];
}

/** The line and those that follow at its indentation, joined. */
function nearby(lines: readonly string[], index: number): string {
  const indent = /^\s*/.exec(lines[index] ?? '')?.[0] ?? '';
  const after = lines.slice(index, index + JSON_LINES);
  const end = after.findIndex((line) => !line.startsWith(indent));
  return after
    .slice(0, end < 0 ? JSON_LINES : end)
    .map((line) => line.trim())
    .join(' ');
}
