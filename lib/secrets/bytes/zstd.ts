/** Little-endian 0xFD2FB528: RFC 8878, section 3.1.1. */
export const zstdMagic = Buffer.from('28b52ffd', 'hex');

const dictionaryIdBytes = [0, 1, 2, 4] as const;
const contentSizeBytes = [0, 2, 4, 8] as const;
const blockHeadBytes = 3;
const blockType = { repeated: 1, reserved: 3 } as const;
const largestBlock = 128 * 1024;

type State = 'descriptor' | 'header' | 'block-head' | 'block' | 'checksum' | 'done' | 'invalid';

/**
 * Finds the end of a frame from the sizes that its blocks state, so that a frame in
 * the middle of a file is decompressed alone. Also tells noise from a frame.
 */
export class ZstdExtent {
  #state: State = 'descriptor';
  /** Bytes of this state still to come. */
  #left = zstdMagic.length + 1;
  #hasChecksum = false;
  #isLast = false;
  #head = 0;
  #headBytes = 0;

  get state(): State {
    return this.#state;
  }

  get isOver(): boolean {
    return this.#state === 'done' || this.#state === 'invalid';
  }

  /** How many of these bytes, which follow the ones before, belong to the frame. */
  take(bytes: Buffer): number {
    let at = 0;
    while (!this.isOver && at < bytes.length) {
      if (this.#state === 'block-head') {
        this.#head += (bytes[at] ?? 0) << (8 * this.#headBytes);
        this.#headBytes += 1;
        at += 1;
        this.#left -= 1;
      } else {
        const step = Math.min(this.#left, bytes.length - at);
        at += step;
        this.#left -= step;
      }
      if (this.#left === 0) this.#advance(bytes[at - 1] ?? 0);
    }
    return at;
  }

  /** The part that ended; a part of no bytes ends with the one before it. */
  #advance(lastByte: number): void {
    if (this.#state === 'descriptor') this.#enter('header', this.#readDescriptor(lastByte));
    else if (this.#state === 'header') this.#enterBlockHead();
    else if (this.#state === 'block-head') this.#readBlockHead();
    else if (this.#state === 'block') this.#afterBlock();
    else if (this.#state === 'checksum') this.#state = 'done';
  }

  #enter(state: State, left: number): void {
    if (this.#state === 'invalid') return;
    this.#state = state;
    this.#left = left;
    if (left === 0) this.#advance(0);
  }

  #readDescriptor(descriptor: number): number {
    if ((descriptor & 0x08) !== 0) this.#state = 'invalid';
    this.#hasChecksum = (descriptor & 0x04) !== 0;
    const isSingleSegment = (descriptor & 0x20) !== 0;
    const sizeBytes = contentSizeBytes[descriptor >> 6] ?? 0;
    return (
      (dictionaryIdBytes[descriptor & 0x03] ?? 0) +
      (isSingleSegment ? Math.max(1, sizeBytes) : 1 + sizeBytes)
    );
  }

  #enterBlockHead(): void {
    this.#head = 0;
    this.#headBytes = 0;
    this.#enter('block-head', blockHeadBytes);
  }

  #readBlockHead(): void {
    this.#isLast = (this.#head & 1) !== 0;
    const type = (this.#head >> 1) & 3;
    const size = this.#head >> 3;
    if (type === blockType.reserved || size > largestBlock) this.#state = 'invalid';
    else this.#enter('block', type === blockType.repeated ? 1 : size);
  }

  #afterBlock(): void {
    if (!this.#isLast) this.#enterBlockHead();
    else if (this.#hasChecksum) this.#enter('checksum', 4);
    else this.#state = 'done';
  }
}
