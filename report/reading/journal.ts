import { parseJson } from '../../lib/base/json.ts';
import type { BundleView, Evidence } from '../bundle-view.ts';
import { evidence } from './evidence.ts';
import { numberAt, parseTime, textAt } from './values.ts';

/** A journal line in `short-iso` or `short-iso-precise`, with or without the host name. */
export interface JournalLine {
  readonly atMs: number;
  /** The syslog identifier, such as `kubelet` or `systemd`. */
  readonly identifier: string;
  readonly text: string;
  readonly evidence: Evidence;
}

const LINE =
  /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)) (?:[^\s:]+ )?([^\s[\]:]+)(?:\[\d+\])?: (.*)$/;
/** A container's log line, in CRI format or as printed by `crictl logs --timestamps`. */
const CRI_LINE = /^(\d{4}-\d\d-\d\dT\S+) (?:(?:stdout|stderr) [FP] )?(.*)$/;

/**
 * Characters at each end of a line that are searched and kept. What has failed is said there, and a line may quote what a
 * stranger has chosen: an image's name, the answer of a probe, a whole object.
 */
const LOOKED_AT = 8192;

const endsOf = (line: string): string =>
  line.length <= 2 * LOOKED_AT ? line : `${line.slice(0, LOOKED_AT)} ... ${line.slice(-LOOKED_AT)}`;

/** A message from the last minutes before the bundle was begun counts as current. */
export const RECENT_MS = 5 * 60_000;
/** So does what is said while it is collected. */
const COLLECTED_MS = 15 * 60_000;

export const isRecent = (line: Pick<JournalLine, 'atMs'>, view: BundleView): boolean =>
  line.atMs >= view.atMs - RECENT_MS && !isAhead(line, view);

/** Said before the clock was set back: nobody knows when. */
export const isAhead = ({ atMs }: Pick<JournalLine, 'atMs'>, view: BundleView): boolean =>
  atMs > view.atMs + COLLECTED_MS;

/** The matching lines of a journal (either format) or container log, oldest first. */
export function linesLike(view: BundleView, path: string, pattern: RegExp): JournalLine[] {
  return view.lines(path).flatMap((raw, index) => match(path, raw, index, pattern) ?? []);
}

/** The first match; stops reading there. */
export function firstLike(
  view: BundleView,
  path: string,
  pattern: RegExp,
): JournalLine | undefined {
  for (const [index, raw] of view.lines(path).entries()) {
    const found = match(path, raw, index, pattern);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The last `most` matches, oldest first. */
export function lastLike(view: BundleView, path: string, pattern: RegExp, most = 1): JournalLine[] {
  const lines = view.lines(path);
  const found: JournalLine[] = [];
  for (let index = lines.length - 1; index >= 0 && found.length < most; index--) {
    const line = match(path, lines[index] ?? '', index, pattern);
    if (line !== undefined) found.unshift(line);
  }
  return found;
}

function match(path: string, raw: string, index: number, pattern: RegExp): JournalLine | undefined {
  const head = endsOf(raw);
  if (!pattern.test(head)) return undefined;
  const isJson = raw.startsWith('{');
  const line = path.includes('containers/') ? parseCriLine(head) : parseLine(isJson ? raw : head);
  if (line === undefined) return undefined;
  return {
    ...line,
    // Lazy: a log may have thousands of such lines, of which a few are shown.
    get evidence() {
      const said = isJson ? `${line.identifier}: ${line.text}` : head;
      return evidence(path, index + 1, said, pattern.exec(head)?.[0]);
    },
  };
}

type ParsedLine = Pick<JournalLine, 'atMs' | 'identifier' | 'text'>;

function parseLine(raw: string): ParsedLine | undefined {
  const [, time, identifier = '', text = ''] = LINE.exec(raw) ?? [];
  const atMs = parseTime(time);
  if (atMs !== undefined) return { atMs, identifier, text };
  return raw.startsWith('{') ? parseJsonLine(raw) : undefined;
}

function parseCriLine(raw: string): ParsedLine | undefined {
  const [, time, text = ''] = CRI_LINE.exec(raw) ?? [];
  const atMs = parseTime(time);
  return atMs === undefined ? undefined : { atMs, identifier: '', text };
}

/** The fields after the sentence of an agent's event: `Sentence name=value name="quoted value"`. */
export function fieldsOf(text: string): ReadonlyMap<string, string> {
  const fields = text.matchAll(/ (\w+)=(?:("(?:[^"\\]|\\.)*")|(\S+))/g);
  return new Map(
    Array.from(fields, ([, name = '', quoted = '', plain]) => [
      name,
      plain ?? String(parseJson(quoted) ?? quoted),
    ]),
  );
}

/** journald's `--output=json`. */
function parseJsonLine(raw: string): ParsedLine | undefined {
  const entry = parseJson(raw);
  const micros = numberAt(entry, '__REALTIME_TIMESTAMP');
  if (micros === undefined) return undefined;
  const identifier = textAt(entry, 'SYSLOG_IDENTIFIER') ?? '';
  const text = endsOf(textAt(entry, 'MESSAGE') ?? '');
  return { atMs: micros / 1000, identifier, text };
}

const DAY_MS = 86_400_000;

/** Longer than a day ago; not if a clock that was ahead has dated it. */
export const isOfBefore = ({ atMs }: Pick<JournalLine, 'atMs'>, view: BundleView): boolean =>
  atMs < view.atMs - DAY_MS;

/** Since it was quiet for a day; a boot may last for years. */
export function ofLastDays(lines: readonly JournalLine[], view: BundleView): JournalLine[] {
  const sorted = lines.filter((line) => !isAhead(line, view)).toSorted((a, b) => a.atMs - b.atMs);
  let nextMs = view.atMs;
  const before = sorted.findLastIndex(({ atMs }) => {
    const isQuiet = nextMs - atMs > DAY_MS;
    nextMs = atMs;
    return isQuiet;
  });
  return sorted.slice(before + 1);
}

/** A message that is still being repeated. */
export interface Ongoing {
  /** Start of the current run of messages: before it was a pause longer than RECENT_MS, or `afterMs`. */
  readonly sinceMs: number;
  readonly last: JournalLine;
}

/** Follows matching lines back in time as long as there is no pause. */
export function ongoing(
  view: BundleView,
  path: string,
  pattern: RegExp,
  afterMs: number,
): Ongoing | undefined {
  const lines = view.lines(path);
  let found: Ongoing | undefined;
  for (let index = lines.length - 1; index >= 0; index--) {
    const line = match(path, lines[index] ?? '', index, pattern);
    if (line === undefined || isAhead(line, view)) continue;
    const nextMs = found?.sinceMs ?? view.atMs;
    if (line.atMs <= afterMs || nextMs - line.atMs > RECENT_MS) break;
    found = { sinceMs: line.atMs, last: found?.last ?? line };
  }
  return found;
}
