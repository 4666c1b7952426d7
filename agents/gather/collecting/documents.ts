import { collectGarbage } from '../../../lib/host/own-memory.ts';
import type { Redaction } from '../../../lib/secrets/redact/redactor.ts';

/** Larger contents are not parsed as one document. */
const WHOLE_BYTES = 8 << 20;

/**
 * Documents are parsed whole, which takes several times their length in memory: they are
 * processed one at a time, with a garbage collection after each.
 */
export class DocumentQueue {
  #last: Promise<void> = Promise.resolve();

  async *redacted(
    redaction: Redaction,
    chunks: AsyncIterable<Uint8Array>,
  ): AsyncGenerator<Uint8Array> {
    const parts: Uint8Array[] = [];
    let length = 0;
    const rest = chunks[Symbol.asyncIterator]();
    let next = await rest.next();
    while (next.done !== true && length <= WHOLE_BYTES) {
      parts.push(next.value);
      length += next.value.length;
      next = await rest.next();
    }
    const whole = joined(parts, next, rest);
    if (next.done !== true) {
      // Its source may run for a long time: nothing waits for it.
      yield* redaction(whole);
      return;
    }
    const before = this.#last;
    const mine = Promise.withResolvers<void>();
    this.#last = mine.promise;
    await before;
    try {
      yield* redaction(whole);
    } finally {
      collectGarbage();
      mine.resolve();
    }
  }
}

/** Each part is released once it is yielded. */
async function* joined(
  parts: Uint8Array[],
  next: IteratorResult<Uint8Array>,
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  for (let part = parts.shift(); part !== undefined; part = parts.shift()) yield part;
  for (let result = next; result.done !== true; result = await rest.next()) yield result.value;
}
