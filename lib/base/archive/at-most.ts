/** Passes a stream through, and fails if it exceeds the limit. */
export async function* atMost<Chunk extends Uint8Array>(
  chunks: AsyncIterable<Chunk>,
  limitBytes: number,
  tooMuch: () => Error,
): AsyncGenerator<Chunk> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > limitBytes) throw tooMuch();
    yield chunk;
  }
}
