import { distance } from 'fastest-levenshtein';

/** A longer name is not a typo; comparing it would only waste time. */
const LONGEST_NAME = 64;

/** The known name that a mistyped one most likely means; undefined if none is close. */
export function suggest(name: string, known: readonly string[]): string | undefined {
  if (name.length > LONGEST_NAME) return undefined;
  const plain = (text: string) => text.toLowerCase().replace(/[-_]/g, '');
  const ranked = known
    .map((candidate) => ({ candidate, edits: distance(plain(name), plain(candidate)) }))
    .toSorted((a, b) => a.edits - b.edits);
  const [best] = ranked;
  const limit = Math.max(1, Math.floor(name.length / 3));
  return best !== undefined && best.edits <= limit ? best.candidate : undefined;
}
