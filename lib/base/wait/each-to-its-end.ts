import pMap from 'p-map';

/**
 * The results of `body` for each item, several at a time. After a failure the others still run, so that nothing goes on when
 * this returns.
 *
 * @throws the first failure
 */
export async function eachToItsEnd<Item, Result>(
  items: readonly Item[],
  body: (item: Item) => Promise<Result>,
  concurrency: number,
): Promise<Result[]> {
  try {
    return await pMap(items, body, { concurrency, stopOnError: false });
  } catch (error) {
    throw error instanceof AggregateError ? error.errors[0] : error;
  }
}
