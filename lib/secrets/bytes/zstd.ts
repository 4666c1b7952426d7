/** Little-endian 0xFD2FB528: RFC 8878, section 3.1.1. */
export const zstdMagic = Buffer.from('28b52ffd', 'hex');

const dictionaryIdBytes = [0, 1, 2, 4] as const;
const contentSizeBytes = [0, 2, 4, 8] as const;
const blockType = { repeated: 1, reserved: 3 } as const;
const largestBlock = 128 * 1024;
const checksumBytes = 4;

/** Asks for the next bytes of a frame by their number, and is given those of the parts that say something. */
function* partsOfFrame(): Generator<number, 'done' | 'invalid', readonly number[]> {
  const { [zstdMagic.length]: descriptor = 0 } = yield zstdMagic.length + 1;
  if ((descriptor & 0x08) !== 0) return 'invalid';
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const sizeBytes = contentSizeBytes[descriptor >> 6] ?? 0;
  yield (dictionaryIdBytes[descriptor & 0x03] ?? 0) +
    (isSingleSegment ? Math.max(1, sizeBytes) : 1 + sizeBytes);
  for (let isLast = false; !isLast; ) {
    const [low = 0, middle = 0, high = 0] = yield 3;
    const head = low | (middle << 8) | (high << 16);
    const type = (head >> 1) & 3;
    const size = head >> 3;
    if (type === blockType.reserved || size > largestBlock) return 'invalid';
    yield type === blockType.repeated ? 1 : size;
    isLast = (head & 1) !== 0;
  }
  if ((descriptor & 0x04) !== 0) yield checksumBytes;
  return 'done';
}

/** No part that says something is longer. */
const longestHead = zstdMagic.length + 1;

/**
 * Finds the end of a frame from the sizes that its blocks state, so that a frame in
 * the middle of a file is decompressed alone. Also tells noise from a frame.
 */
export class ZstdExtent {
  readonly #parts = partsOfFrame();
  #next = this.#parts.next([]);
  /** Of the part it is in: the first bytes, and how many were taken. */
  #head: number[] = [];
  #taken = 0;

  /** Whether the frame has ended, or was none. */
  get isOver(): boolean {
    return this.#next.done === true;
  }

  get isInvalid(): boolean {
    return this.#next.value === 'invalid';
  }

  /** How many of these bytes, which follow the ones before, belong to the frame. */
  take(bytes: Buffer): number {
    let at = 0;
    while (!this.#next.done) {
      const step = Math.min(this.#next.value - this.#taken, bytes.length - at);
      this.#head.push(...bytes.subarray(at, at + Math.min(step, longestHead - this.#head.length)));
      this.#taken += step;
      at += step;
      if (this.#taken < this.#next.value) break;
      this.#next = this.#parts.next(this.#head);
      this.#head = [];
      this.#taken = 0;
    }
    return at;
  }
}
