/** One of each, then the next of each: whoever has many holds nobody up. */
export async function* inTurn<T>(all: readonly AsyncIterable<T>[]): AsyncGenerator<T> {
  let open = all.map((each) => each[Symbol.asyncIterator]());
  while (open.length > 0) {
    const left: typeof open = [];
    for (const each of open) {
      const { value, done } = await each.next();
      if (done === true) continue;
      left.push(each);
      yield value;
    }
    open = left;
  }
}
