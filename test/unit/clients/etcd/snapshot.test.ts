import { createHash } from 'node:crypto';
import { Writable } from 'node:stream';
import t from 'tap';
import { Failure } from '../../../../lib/base/errors/failure.ts';
import type { SnapshotPiece } from '../../../../lib/clients/etcd/client.ts';
import { writePieces } from '../../../../lib/clients/etcd/snapshot.ts';

const database = Buffer.from('x'.repeat(700));
const digest = createHash('sha256').update(database).digest();
const whole = Buffer.concat([database, digest]);

/** The stream split at the given places, with etcd's count of the remaining bytes. */
async function* piecesOf(bytes: Buffer, ...cuts: number[]): AsyncGenerator<SnapshotPiece> {
  const ends = [...cuts, bytes.length];
  for (const [index, end] of ends.entries()) {
    const remainingBytes = Math.max(0, database.length - end);
    yield { bytes: bytes.subarray(ends[index - 1] ?? 0, end), remainingBytes, version: '3.6.0' };
  }
}

async function write(pieces: AsyncGenerator<SnapshotPiece>) {
  const written: Buffer[] = [];
  const target = new Writable({
    write(chunk: Buffer, _, done) {
      written.push(chunk);
      done();
    },
  });
  return { result: await writePieces(pieces, target), written: Buffer.concat(written) };
}

t.test('the digest at the end is found however the stream is split', async (t) => {
  for (const cuts of [[700], [1, 700], [690, 700, 710], [700, 700], [350, 700, 731]]) {
    const { result, written } = await write(piecesOf(whole, ...cuts));
    t.ok(written.equals(whole));
    const sha256 = createHash('sha256').update(whole).digest('hex');
    t.strictSame(result, { bytes: 732, sha256, version: '3.6.0' }, cuts.join());
  }
});

t.test('a stream that is damaged, cut off or empty is refused', async (t) => {
  const flipped = Buffer.from(whole);
  flipped.writeUInt8(0, 5);
  async function* nothing(): AsyncGenerator<SnapshotPiece> {}
  const cases: [string, AsyncGenerator<SnapshotPiece>, RegExp][] = [
    ['damaged', piecesOf(flipped, 700), /corrupted in transit/],
    [
      'without digest',
      piecesOf(database, 300),
      /incomplete; expected 700 bytes and a digest of 32/,
    ],
    ['cut off', piecesOf(whole.subarray(0, 500), 300), /incomplete.*found 500 bytes/],
    ['too long', piecesOf(Buffer.concat([whole, digest]), 700), /incomplete/],
    ['empty', nothing(), /incomplete/],
  ];
  for (const [name, pieces, error] of cases) {
    const attempt = write(pieces);
    await t.rejects(attempt, Failure, name);
    await t.rejects(attempt, error, name);
  }
});
