import { isRecord } from '../../lib/base/json.ts';

/** The mapping at a path of an object; an empty one if there is none. */
export function recordAt(object: unknown, path: readonly string[]): Record<string, unknown> {
  const value = path.reduce<unknown>((at, name) => (isRecord(at) ? at[name] : undefined), object);
  return isRecord(value) ? value : {};
}

const MOST_SHOWN = 80;

/** The beginning of a text that may be anything, on one line. */
export const shown = (text: string): string => JSON.stringify(text.slice(0, MOST_SHOWN));
