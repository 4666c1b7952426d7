/**
 * Of age, in bytes: its header has a part for each recipient, on every one of which an identity is tried before anything is
 * authenticated. 64 KiB are some hundred recipients, 40 of those that quantum computers do not break.
 */
export const LONGEST_AGE_HEADER = 64 << 10;

/** Whether the header of a file that begins like this ends within that length. */
export const endsInTime = (beginning: Buffer): boolean =>
  beginning.subarray(0, LONGEST_AGE_HEADER).includes('\n--- ');

/**
 * What is encrypted, unchanged, once enough of it was read to know that its header is short enough.
 *
 * @throws Error before anything is passed on
 */
export async function* withShortHeader(encrypted: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let beginning: Buffer | undefined = Buffer.alloc(0);
  for await (const piece of encrypted) {
    if (beginning === undefined) {
      yield piece;
      continue;
    }
    beginning = Buffer.concat([beginning, piece]);
    if (!endsInTime(beginning)) {
      if (beginning.length >= LONGEST_AGE_HEADER) break;
      continue;
    }
    yield beginning;
    beginning = undefined;
  }
  if (beginning === undefined) return;
  throw new Error(
    `expected a header of age of at most ${LONGEST_AGE_HEADER} bytes, found none in its first bytes`,
  );
}
