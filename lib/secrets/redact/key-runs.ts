import type { Span } from './line-rule.ts';

/** The least length of a line of a key's body. Only the last line is shorter; what stands around it identifies it. */
export const LONG = 40;
/** Of what stands before and after a line of a key in a record, with numbers and without. */
const AROUND = { read: 16, compared: 6 } as const;

const LONG_RUN = new RegExp(`[A-Za-z0-9+/]{${LONG},}={0,2}`, 'g');
const ANY_RUN = /[A-Za-z0-9+/]+={0,2}/g;
/** Of base64 in a line, with its padding. */
export interface KeyRun extends Span {
  readonly text: string;
}

/** What stands around a line of a key in the line of a log: the same for all lines of the key. */
export interface Frame {
  readonly column: number;
  readonly before: string;
  readonly after: string;
}

/** Numbers can differ: times, lines of a source. */
const withoutNumbers = (text: string) => text.replace(/\d+/g, '0');

export function frameOf(text: string, start: number, end: number): Frame {
  return {
    column: start,
    before: withoutNumbers(text.slice(Math.max(0, start - AROUND.read), start)).slice(
      -AROUND.compared,
    ),
    after: withoutNumbers(text.slice(end, end + AROUND.read)).slice(0, AROUND.compared),
  };
}

function fits(frame: Frame, text: string, start: number, end: number): boolean {
  const own = frameOf(text, start, end);
  if (own.after !== frame.after) return false;
  return own.column === frame.column || own.before === frame.before;
}

/** Not a digest, a path or a word. */
const isBody = (run: string) => /[G-Zg-z]/.test(run) && /[A-Z]/.test(run) && /[a-z0-9]/.test(run);

/** The longest run of base64 in a line, if it is as long as a line of a key; the first of equal ones. */
export function longRun(text: string): KeyRun | undefined {
  const [longest] = [...text.matchAll(LONG_RUN)]
    .filter(({ 0: run }) => isBody(run))
    .sort((a, b) => b[0].length - a[0].length);
  return longest && runOf(longest);
}

/** A shorter run that stands where those of the key do. */
export function framedRun(text: string, frame: Frame): KeyRun | undefined {
  for (const match of text.matchAll(ANY_RUN)) {
    const run = runOf(match);
    if (fits(frame, text, run.start, run.end)) return run;
  }
  return undefined;
}

const runOf = ({ index, 0: text }: RegExpExecArray): KeyRun => ({
  start: index,
  end: index + text.length,
  text,
});

/** The last line of a key, rather than a word. */
export const isRest = (run: string) =>
  run.length < LONG && run.length % 4 === 0 && !/^(?:[A-Z]?[a-z]+|\d+)$/.test(run);
