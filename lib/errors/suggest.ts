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

/** Levenshtein distance. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (const [index, char] of [...a].entries()) {
    const next = [index + 1];
    for (const [column, other] of [...b].entries()) {
      const replace = (row[column] ?? 0) + (char === other ? 0 : 1);
      next.push(Math.min(replace, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
