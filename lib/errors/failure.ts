import { redact } from '../log/redact.ts';

/**
 * The one error that agents and the command line show to people.
 *
 * `kind` decides the exit code (see exit-codes.ts) and whether the step runner
 * may try again:
 * - `retry`: trying again can help (a slow API, a busy disk);
 * - `usage`: what the user gave is wrong; nothing was changed;
 * - `deadline`: a wait ended without what it waited for;
 * - `fatal`: trying again cannot help (a rejected manifest, a wrong host).
 */
export type FailureKind = 'retry' | 'usage' | 'deadline' | 'fatal';

export interface FailureDetails {
  /** What should have been there. */
  expected?: string;
  /** What was there instead, as observed last. */
  found?: string;
  /** What a person can do about it, as one imperative sentence. */
  fix?: string;
  cause?: unknown;
}

export class Failure extends Error {
  readonly kind: FailureKind;
  readonly details: FailureDetails;

  /** `what` is a sentence that names the object, or the file and field, without a final stop. */
  constructor(kind: FailureKind, what: string, details: FailureDetails = {}) {
    super(sentence(what, details), details.cause === undefined ? {} : { cause: details.cause });
    this.name = 'Failure';
    this.kind = kind;
    this.details = details;
  }
}

function sentence(what: string, { expected, found, fix }: FailureDetails): string {
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
    at = at instanceof Error ? at.cause : undefined;
  }
  return messages.join(': ');
}

/** Node's connection errors are aggregates without a message of their own. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') {
    return [...new Set(error.errors.map(messageOf))].join(', ');
  }
  return error instanceof Error ? error.message || error.name : String(error);
}
