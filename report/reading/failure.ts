import type { FailureCode } from '../../lib/errors/codes.ts';
import { sentence } from '../../lib/errors/failure.ts';
import {
  type FailureData,
  failureDataSchema,
  withinFailure,
} from '../../lib/errors/failure-data.ts';

/** A failure as an agent wrote it down; one without words where it cannot be read. */
export function readFailure(raw: unknown): FailureData {
  const parsed = failureDataSchema.safeParse(raw);
  return parsed.success ? parsed.data : { code: 'error', kind: 'retry', what: 'no reason given' };
}

/** The failure, a cause or a part of it that has one of the codes; itself first. */
export function withCode(failure: FailureData, ...codes: FailureCode[]): FailureData | undefined {
  return allWithCode(failure, ...codes)[0];
}

export function allWithCode(failure: FailureData, ...codes: FailureCode[]): FailureData[] {
  return [...withinFailure(failure)].filter(({ code }) => codes.some((one) => one === code));
}

/** What failed, what was expected and found, with the causes: all but what to do. */
export function factsOf(failure: FailureData): string {
  const facts: string[] = [];
  for (let at: FailureData | undefined = failure; at !== undefined; ) {
    const text = sentence(at.what, { expected: at.expected, found: at.found });
    if (!facts.some((known) => known.includes(text))) facts.push(text);
    at = at.tellsCause === true ? undefined : at.cause;
  }
  return facts.join(': ');
}

/** What to do: by its parts, else by the failure itself, else by the nearest cause that says it. */
export function fixOf(failure: FailureData): string | undefined {
  const [all] = [failure, ...causesOf(failure)].filter(({ parts = [] }) => parts.length > 0);
  const ofParts = (all?.parts ?? []).flatMap(({ fix }) => fix ?? []);
  if (ofParts.length > 0) return [...new Set(ofParts)].join(' ');
  return [failure, ...causesOf(failure)].find(({ fix }) => fix !== undefined)?.fix;
}

function causesOf({ cause }: FailureData): FailureData[] {
  return cause === undefined ? [] : [cause, ...causesOf(cause)];
}
