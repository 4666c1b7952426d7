import { distance } from 'fastest-levenshtein';

/** Nothing longer is a mistyped name; comparing it would only take time. */
const LONGEST_NAME = 64;

/** The known name that a mistyped one most likely means; undefined when none is near. */
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
