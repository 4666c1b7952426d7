/** A failure as the agents word it (lib/errors/failure.ts), taken apart again. */
export interface Reason {
  /** What failed, what was expected and what was found. */
  readonly facts: string;
  /** What to do, where the agent says it. */
  readonly todo?: string;
}

/**
 * `WHAT; expected X; found Y. DO THIS.`: what comes after the first full stop that ends a
 * sentence is what to do.
 */
export function splitReason(reason: string): Reason {
  const end = /\. (?=[A-Z])/.exec(reason);
  if (end === null) return { facts: reason.replace(/\.$/, '') };
  return { facts: reason.slice(0, end.index), todo: reason.slice(end.index + 2) };
}
