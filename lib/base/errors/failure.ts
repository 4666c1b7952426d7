import { z } from 'zod';
import { redact } from '../log/redact.ts';
import type { FailureCode } from './codes.ts';
import { schemaFaults } from './schema-faults.ts';
import { isBadPath, systemErrorText } from './system-error.ts';

/**
 * What kind of failure it is. Determines the exit code (see exit-codes.ts) and
 * whether the step runner may retry:
 * - `retry`: a retry can help (a slow API, a busy disk);
 * - `usage`: the user's input is wrong; nothing was changed;
 * - `deadline`: a deadline passed before the awaited condition was met;
 * - `fatal`: retrying cannot help (a rejected manifest, a wrong host);
 * - `bug`: the program is wrong; it is retried a few times and then reported.
 */
export const FAILURE_KINDS = ['retry', 'usage', 'deadline', 'fatal', 'bug'] as const;
export type FailureKind = (typeof FAILURE_KINDS)[number];

export interface FailureDetails {
  /** For programs. If absent, the general code of the kind applies. */
  code?: FailureCode | undefined;
  /** The object concerned, for programs: a name, path or address. */
  subject?: string | undefined;
  /** What was expected. */
  expected?: string | undefined;
  /** What was found instead, as last observed. */
  found?: string | undefined;
  /** What a person can do about it, as one imperative sentence. */
  fix?: string | undefined;
  /** The individual failures, where there are several. `found` describes them in words. */
  parts?: readonly Failure[] | undefined;
  cause?: unknown;
  /** The sentence already includes the cause's message. */
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

  /** `what` is a sentence that names the object, or the file and field, without a full stop. */
  constructor(kind: FailureKind, what: string, details: FailureDetails = {}) {
    super(sentence(what, details), details.cause === undefined ? {} : { cause: details.cause });
    this.name = 'Failure';
    this.kind = kind;
    this.code = details.code ?? GENERAL_CODES[kind];
    this.what = what;
    this.details = details;
  }
}

/** `WHAT; expected X; found Y. FIX`: the wording of every failure. */
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

/** The message of any thrown value and of its causes, each once and without secrets. */
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

/** What AbortSignal.timeout says. */
const TIMED_OUT = 'The operation was aborted due to timeout';

/**
 * Node's connection errors are aggregates without a message of their own; those about a path, and a schema's list of
 * faults as JSON, are for programmers.
 */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') {
    return [...new Set(error.errors.map(messageOf))].join(', ');
  }
  if (isBadPath(error)) return systemErrorText(error);
  if (error instanceof z.ZodError) return schemaFaults(error);
  if (error instanceof Error && error.message === TIMED_OUT) return 'it took longer than it may';
  return error instanceof Error ? error.message || error.name : String(error);
}
