import t from 'tap';
import { PIECE_BYTES, Pieces, PieceWriter } from '../../../lib/secrets/threads/pieces.ts';

t.test('chunks are copied into full pieces, and a last one', (t) => {
  for (const size of [1000, PIECE_BYTES - 1, PIECE_BYTES, 3 * PIECE_BYTES + 1]) {
    const input = Buffer.alloc(4 * PIECE_BYTES + 5, 'words and words');
    const writer = new PieceWriter(new Pieces());
    const pieces: Uint8Array[] = [];
    const chunk = Buffer.alloc(size);
    for (let at = 0; at < input.length; at += size) {
      // The chunk's memory is used again.
      const length = input.copy(chunk, 0, at);
      pieces.push(...writer.write(chunk.subarray(0, length)));
    }
    t.ok(pieces.every(({ length }) => length === PIECE_BYTES));
    pieces.push(...writer.rest());
    t.ok(Buffer.concat(pieces).equals(input), `chunks of ${size}`);
    t.strictSame([...writer.rest()], [], 'nothing is left');
  }
  t.end();
});

t.test('memory that nobody reads any more is used again', (t) => {
  const pieces = new Pieces();
  const first = pieces.take();
  t.equal(first.length, PIECE_BYTES);
  const second = pieces.take();
  t.not(second.buffer, first.buffer);
  pieces.giveBack(first.subarray(0, 10));
  const third = pieces.take();
  t.equal(third.buffer, first.buffer);
  t.equal(third.length, PIECE_BYTES, 'all of it');
  pieces.giveBack(new Uint8Array(10));
  t.equal(pieces.take().length, PIECE_BYTES, 'no other memory is');
  t.end();
});

t.test('only a little memory is kept', (t) => {
  const pieces = new Pieces();
  const taken = Array.from({ length: 100 }, () => pieces.take());
  for (const piece of taken) pieces.giveBack(piece);
  const again = new Set(taken.map(({ buffer }) => buffer));
  const kept = taken.filter(() => again.has(pieces.take().buffer));
  t.ok(kept.length > 1 && kept.length < 20, String(kept.length));
  t.end();
});
