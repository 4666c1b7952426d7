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

/** Levenshtein distance, row by row of its table. */
function distance(a: string, b: string): number {
  const target = [...b];
  let row = target.map((_, column) => column + 1);
  let edge = 0;
  for (const char of a) {
    let diagonal = edge;
    edge += 1;
    let left = edge;
    row = row.map((above, column) => {
      const replaced = diagonal + (char === target[column] ? 0 : 1);
      diagonal = above;
      left = Math.min(replaced, above + 1, left + 1);
      return left;
    });
  }
  return row.at(-1) ?? edge;
}
