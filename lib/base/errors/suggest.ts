import { distance } from 'fastest-levenshtein';

/** A longer name is not a typo; comparing it would only waste time. */
const LONGEST_NAME = 64;

/** The known name that a mistyped one most likely means; undefined if none is close. */
export function suggest(name: string, known: readonly string[]): string | undefined {
  if (name.length > LONGEST_NAME) return undefined;
  const plain = (text: string) => text.toLowerCase().replace(/[-_]/g, '');
  const ranked = known
    .map((candidate) => ({ candidate, edits: edits(plain(name), plain(candidate)) }))
    .toSorted((a, b) => a.edits - b.edits);
  const [best] = ranked;
  const limit = Math.max(1, Math.floor(name.length / 3));
  return best !== undefined && best.edits <= limit ? best.candidate : undefined;
}

/** Two adjacent letters in the wrong order are one slip, not two edits. */
function edits(name: string, candidate: string): number {
  const first = [...name].findIndex((letter, at) => letter !== candidate[at]);
  const swapped =
    name.slice(0, first) + name.charAt(first + 1) + name.charAt(first) + name.slice(first + 2);
  return first >= 0 && swapped === candidate ? 1 : distance(name, candidate);
}
