import { createCipheriv } from 'node:crypto';

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
export const LOWER = `${LETTERS}0123456789`;
export const ALPHANUMERIC = `${LETTERS}${LETTERS.toUpperCase()}0123456789`;

/** Random values that are the same in every run, so that failures are reproducible. */
export class SeededRandom {
  readonly #stream;

  constructor(seed: number) {
    const key = Buffer.alloc(16);
    key.writeUInt32BE(seed);
    this.#stream = createCipheriv('aes-128-ctr', key, Buffer.alloc(16));
  }

  bytes(length: number): Buffer {
    return this.#stream.update(Buffer.alloc(length));
  }

  /** From `least` (inclusive) to `end` (exclusive). */
  integer(least: number, end: number): number {
    return least + (this.bytes(4).readUInt32BE() % (end - least));
  }

  /** At least one of each of three kinds of character, if the alphabet has them. */
  text(length: number, alphabet = ALPHANUMERIC): string {
    const text = [...this.bytes(length)].map((byte) => alphabet[byte % alphabet.length]).join('');
    const isMixed = ['a-z', 'A-Z', '0-9']
      .filter((range) => new RegExp(`[${range}]`).test(alphabet))
      .every((range) => new RegExp(`[${range}]`).test(text));
    return isMixed || length < 8 ? text : this.text(length, alphabet);
  }
}
