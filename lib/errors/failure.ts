import { redact } from '../log/redact.ts';
import type { FailureCode } from './codes.ts';

/**
 * What follows from a failure: the exit code (see exit-codes.ts), and whether the step runner may
 * try again:
 * - `retry`: trying again can help (a slow API, a busy disk);
 * - `usage`: what the user gave is wrong; nothing was changed;
 * - `deadline`: a deadline passed before the awaited condition was met;
 * - `fatal`: retrying cannot help (a rejected manifest, a wrong host);
 * - `bug`: the program is wrong; it is tried a few times and then reported.
 */
export const FAILURE_KINDS = ['retry', 'usage', 'deadline', 'fatal', 'bug'] as const;
export type FailureKind = (typeof FAILURE_KINDS)[number];

export interface FailureDetails {
  /** For programs; absent: the general code of the kind. */
  code?: FailureCode | undefined;
  /** What it is about, for programs: a name, path or address. */
  subject?: string | undefined;
  /** What should have been there. */
  expected?: string | undefined;
  /** What was there instead, as observed last. */
  found?: string | undefined;
  /** What a person can do about it, as one imperative sentence. */
  fix?: string | undefined;
  /** Where one failure consists of several: each by itself. `found` has them in words. */
  parts?: readonly Failure[] | undefined;
  cause?: unknown;
  /** The sentence already says what the cause says. */
  tellsCause?: boolean;
}

const GENERAL_CODES: Readonly<Record<FailureKind, FailureCode>> = {
  retry: 'unavailable',
  usage: 'usage',
  deadline: 'deadline',
  fatal: 'refused',
  bug: 'bug',
};

/** The one error that agents and the command line show to people. */
export class Failure extends Error {
  readonly kind: FailureKind;
  readonly code: FailureCode;
  /** The sentence without expected, found and fix. */
  readonly what: string;
  readonly details: FailureDetails;

  /** `what` is a sentence that names the object, or the file and field, without a final stop. */
  constructor(kind: FailureKind, what: string, details: FailureDetails = {}) {
    super(sentence(what, details), details.cause === undefined ? {} : { cause: details.cause });
    this.name = 'Failure';
    this.kind = kind;
    this.code = details.code ?? GENERAL_CODES[kind];
    this.what = what;
    this.details = details;
  }
}

/** `WHAT; expected X; found Y. FIX`: how a failure is worded everywhere. */
export function sentence(
  what: string,
  { expected, found, fix }: Pick<FailureDetails, 'expected' | 'found' | 'fix'>,
): string {
  const parts = [what];
  if (expected !== undefined) parts.push(`expected ${expected}`);
  if (found !== undefined) parts.push(`found ${found}`);
  const facts = parts.join('; ');
  return fix === undefined ? facts : `${facts}. ${fix}`;
}

/** The message of anything thrown, with the messages of its causes, each once and without secrets. */
export function describeError(error: unknown): string {
  const messages: string[] = [];
  const seen = new Set<unknown>();
  for (let at = error; at !== undefined && !seen.has(at) && messages.length < 6; ) {
    seen.add(at);
    const text = redact(messageOf(at));
    if (!messages.some((known) => known.includes(text))) messages.push(text);
    at = causeToTell(at);
  }
  return messages.join(': ');
}

function causeToTell(error: unknown): unknown {
  if (error instanceof Failure && error.details.tellsCause === true) return undefined;
  return error instanceof Error ? error.cause : undefined;
}

/** Node's connection errors are aggregates without a message of their own. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') {
    return [...new Set(error.errors.map(messageOf))].join(', ');
  }
  return error instanceof Error ? error.message || error.name : String(error);
}
