import type { FailureCode } from '../../lib/base/errors/codes.ts';
import { sentence } from '../../lib/base/errors/failure.ts';
import {
  type FailureData,
  failureDataSchema,
  withinFailure,
} from '../../lib/base/errors/failure-data.ts';

/** A failure recorded by an agent; empty if it cannot be parsed. */
export function readFailure(raw: unknown): FailureData {
  const parsed = failureDataSchema.safeParse(raw);
  return parsed.success ? parsed.data : { code: 'error', kind: 'retry', what: 'no reason given' };
}

/** The failure, cause or part with one of the codes; the failure itself is checked first. */
export function withCode(failure: FailureData, ...codes: FailureCode[]): FailureData | undefined {
  return allWithCode(failure, ...codes)[0];
}

export function allWithCode(failure: FailureData, ...codes: FailureCode[]): FailureData[] {
  return [...withinFailure(failure)].filter(({ code }) => codes.some((one) => one === code));
}

/** What failed, what was expected and found, and the causes: everything except the fix. */
export function factsOf(failure: FailureData): string {
  const facts: string[] = [];
  for (let at: FailureData | undefined = failure; at !== undefined; ) {
    const text = sentence(at.what, { expected: at.expected, found: at.found });
    if (!facts.some((known) => known.includes(text))) facts.push(text);
    at = at.tellsCause === true ? undefined : at.cause;
  }
  return facts.join(': ');
}

/** The fixes of its parts, otherwise its own, otherwise that of the nearest cause with one. */
export function fixOf(failure: FailureData): string | undefined {
  const [all] = [failure, ...causesOf(failure)].filter(({ parts = [] }) => parts.length > 0);
  const ofParts = (all?.parts ?? []).flatMap(({ fix }) => fix ?? []);
  if (ofParts.length > 0) return [...new Set(ofParts)].join(' ');
  return [failure, ...causesOf(failure)].find(({ fix }) => fix !== undefined)?.fix;
}

function causesOf({ cause }: FailureData): FailureData[] {
  return cause === undefined ? [] : [cause, ...causesOf(cause)];
}
