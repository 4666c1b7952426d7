import pMap from 'p-map';

/** Works on several items at once; the first failure stops the others, and is thrown once they have ended. */
export async function together<Item>(
  items: readonly Item[],
  { signal, concurrency }: { readonly signal: AbortSignal; readonly concurrency: number },
  body: (item: Item, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const stop = new AbortController();
  const both = AbortSignal.any([signal, stop.signal]);
  let failure: unknown;
  const one = async (item: Item) => {
    try {
      both.throwIfAborted();
      await body(item, both);
    } catch (error) {
      failure ??= error;
      stop.abort(error);
    }
  };
  await pMap(items, one, { concurrency });
  signal.throwIfAborted();
  if (failure !== undefined) throw failure;
}
