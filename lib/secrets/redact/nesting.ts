import { parseJson } from '../../base/json.ts';

/** No program needs a document that is nested deeper; it would overflow the stack of its reader. */
export const MAX_NESTING = 100;

/** The value of a JSON text; undefined if it is not JSON, or nested too deeply to be read. */
export function shallowJson(text: string): unknown {
  return isDeep(text) ? undefined : parseJson(text);
}

/** Whether brackets are nested more than MAX_NESTING deep; those in strings count as well. */
export function isDeep(text: string): boolean {
  let depth = 0;
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    depth = Math.max(0, depth + (bracket === '[' || bracket === '{' ? 1 : -1));
    if (depth > MAX_NESTING) return true;
  }
  return false;
}
