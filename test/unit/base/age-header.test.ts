import t from 'tap';
import { LONGEST_AGE_HEADER, withShortHeader } from '../../../lib/base/age-header.ts';

async function read(pieces: readonly Buffer[]): Promise<Buffer> {
  const passed: Buffer[] = [];
  const stream = async function* () {
    yield* pieces;
  };
  for await (const piece of withShortHeader(stream())) passed.push(piece);
  return Buffer.concat(passed);
}

t.test('what is encrypted passes unchanged, in pieces of any size', async (t) => {
  const head = 'age-encryption.org/v1\n-> X25519 AAAA\nBBBB\n--- CCCC\n';
  const whole = Buffer.from(head + 'x'.repeat(200_000));
  for (const size of [1000, 65_536, 300_000]) {
    const pieces = [];
    for (let at = 0; at < whole.length; at += size) pieces.push(whole.subarray(at, at + size));
    t.ok((await read(pieces)).equals(whole), `${size} bytes each`);
  }
  const letters = Array.from(head, (letter) => Buffer.from(letter));
  t.equal((await read(letters)).toString(), head);
});

t.test('a header ends at the limit, or is too long', async (t) => {
  const end = '\n--- ';
  const fits = Buffer.from(end.padStart(LONGEST_AGE_HEADER, 'x'));
  t.ok((await read([fits])).equals(fits));
  const long = Buffer.from(end.padStart(LONGEST_AGE_HEADER + 1, 'x'));
  await t.rejects(read([long]), { message: /header of age of at most 65536 bytes/ });
  await t.rejects(read([]), { message: /header of age/ });
});
