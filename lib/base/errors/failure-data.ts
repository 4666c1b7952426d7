import { z } from 'zod';
import { redact } from '../log/redact.ts';
import { isFailureCode } from './codes.ts';
import { FAILURE_KINDS, Failure, messageOf, sentence } from './failure.ts';
import { asFailure, codeOf } from './unexpected.ts';

/** Longer chains add nothing, and a cause may refer back to itself. */
const DEEPEST = 6;

/**
 * A failure as data: in step journals, status, service records and reports. Codes are
 * those of codes.ts; readers must tolerate unknown ones. No field contains secrets.
 */
export const failureDataSchema = z.object({
  code: z.string().describe('failure code, for programs (docs/reference/failures.md)'),
  kind: z.enum(FAILURE_KINDS).describe('what happens next: retry, usage, deadline, fatal or bug'),
  what: z.string().describe('a sentence that names the object'),
  subject: z.string().optional().describe('a name, path or address, for programs'),
  expected: z.string().optional(),
  found: z.string().optional(),
  fix: z.string().optional().describe('what a person can do'),
  get parts() {
    return z.array(failureDataSchema).optional().describe('if it consists of several failures');
  },
  get cause() {
    return failureDataSchema.optional();
  },
  tellsCause: z.literal(true).optional().describe('the sentence already includes the cause'),
  stack: z.string().optional().describe('only for a bug'),
});

export type FailureData = z.infer<typeof failureDataSchema>;

/** Any thrown value, as data. */
export function failureData(error: unknown): FailureData {
  return dataOf(asFailure(error), 1);
}

function dataOf(failure: Failure, depth: number): FailureData {
  const { kind, code, what, details } = failure;
  const { subject, expected, found, fix, parts } = details;
  const cause = depth < DEEPEST ? causeOf(failure, depth) : undefined;
  const stack = kind === 'bug' ? stackOf(failure) : undefined;
  return {
    code,
    kind,
    what: redact(what),
    ...(subject === undefined ? {} : { subject: redact(subject) }),
    ...(expected === undefined ? {} : { expected: redact(expected) }),
    ...(found === undefined ? {} : { found: redact(found) }),
    ...(fix === undefined ? {} : { fix: redact(fix) }),
    ...(parts === undefined ? {} : { parts: parts.map((part) => dataOf(part, depth + 1)) }),
    ...(cause === undefined ? {} : { cause }),
    ...(cause !== undefined && details.tellsCause === true ? { tellsCause: true } : {}),
    ...(stack === undefined ? {} : { stack }),
  };
}

/** Rebuilds a recorded failure, with its code, parts and causes. */
export function failureFromData({
  code,
  kind,
  what,
  subject,
  expected,
  found,
  fix,
  parts,
  cause,
  tellsCause,
}: FailureData): Failure {
  return new Failure(kind, what, {
    code: isFailureCode(code) ? code : undefined,
    subject,
    expected,
    found,
    fix,
    parts: parts?.map(failureFromData),
    cause: cause === undefined ? undefined : failureFromData(cause),
    tellsCause: tellsCause === true,
  });
}

function causeOf({ cause }: Failure, depth: number): FailureData | undefined {
  if (cause === undefined) return undefined;
  if (cause instanceof Failure) return dataOf(cause, depth + 1);
  const next =
    cause instanceof Error && cause.cause !== undefined && depth + 1 < DEEPEST
      ? causeOf(new Failure('retry', '', { cause: cause.cause }), depth + 1)
      : undefined;
  const { kind } = asFailure(cause);
  const data = { code: codeOf(cause), kind, what: redact(messageOf(cause)) };
  return next === undefined ? data : { ...data, cause: next };
}

/** The stack of the original error. */
export function stackOf(failure: Failure): string | undefined {
  const thrown = failure.cause instanceof Error ? failure.cause : failure;
  return thrown.stack === undefined ? undefined : redact(thrown.stack);
}

/** The failure as a sentence for people, causes included, worded like describeError. */
export function failureSentence(data: FailureData): string {
  const said: string[] = [];
  for (let at: FailureData | undefined = data; at !== undefined; ) {
    const text = sentence(at.what, at);
    if (!said.some((known) => known.includes(text))) said.push(text);
    at = at.tellsCause === true ? undefined : at.cause;
  }
  return said.join(': ');
}

/** The failure itself, its causes and its parts: everything that can carry a code. */
export function* withinFailure(data: FailureData): Generator<FailureData> {
  yield data;
  if (data.cause !== undefined) yield* withinFailure(data.cause);
  for (const part of data.parts ?? []) yield* withinFailure(part);
}
