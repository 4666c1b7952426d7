import { isRecord } from '../json.ts';
import { inOneLine } from '../printable.ts';
import { redact } from './redact.ts';

/** pino's levels as syslog priorities. */
const PRIORITY: Record<number, number> = { 10: 7, 20: 7, 30: 6, 40: 4, 50: 3, 60: 2 };

/** Formats one of pino's JSON records as a line for people: `<6>Sentence key=value`. */
export function formatLine(json: string, priorities: boolean): string {
  const record: unknown = JSON.parse(json);
  const { level, msg, ...fields } = isRecord(record) ? record : {};
  const sentence = typeof msg === 'string' ? msg : '';
  const pairs = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key}=${fieldText(value)}`);
  const line = loggedLine([sentence, ...pairs].join(' '));
  if (!priorities) return line;
  return withPriority(line, PRIORITY[typeof level === 'number' ? level : 30] ?? 6);
}

/** In characters. journald splits longer lines, and the time to redact one would grow faster than its length. */
const LONGEST_LINE = 32 << 10;

/** Any text as one line of the log: short enough, without secrets, and without anything that a terminal interprets. */
export function loggedLine(text: string): string {
  const cut = text.length > LONGEST_LINE ? `${text.slice(0, LONGEST_LINE)} ...` : text;
  return inOneLine(redact(cut));
}

/** The line as journald reads it from standard output (`man 5 systemd.exec`, SyslogLevelPrefix). */
export const withPriority = (line: string, priority: number): string => `<${priority}>${line}`;

function fieldText(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return /^[\w./:@+-]+$/.test(text) ? text : JSON.stringify(text);
}
