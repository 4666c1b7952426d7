import { createHash } from 'node:crypto';

/** `count` of the items, in their order; the same ones for the same seed. */
export function sample<T>(
  items: readonly T[],
  count: number,
  seed: string,
  nameOf: (item: T) => string,
): T[] {
  const rank = (item: T) =>
    createHash('sha256')
      .update(`${seed}\n${nameOf(item)}`)
      .digest('hex');
  const ranked = items.map((item) => ({ item, rank: rank(item) }));
  const chosen = ranked.toSorted((a, b) => (a.rank < b.rank ? -1 : 1)).slice(0, count);
  const kept = new Set(chosen.map(({ item }) => item));
  return items.filter((item) => kept.has(item));
}
