import { gzipSync, zstdCompressSync } from 'node:zlib';
import t from 'tap';
import { Budget } from '../../../lib/secrets/bytes/budget.ts';
import { decodedBlob } from '../../../lib/secrets/redact/blobs.ts';

const base64 = (bytes: string | Buffer) => Buffer.from(bytes).toString('base64');
const budgetOf = (bytes: number) => new Budget({ bytes, perByte: 0, depth: 1 });
/** An attempt to unpack costs this much. */
const ATTEMPT = 32 * 1024;

function decoded(bytes: string | Buffer, budget = budgetOf(1 << 20)) {
  const found = decodedBlob(base64(bytes), budget);
  return Buffer.isBuffer(found) ? found.toString('latin1') : { found };
}
const secret = { found: 'secret' };
const nothing = { found: undefined };

t.test('where a document may begin in base64', (t) => {
  const document = base64('-----words-');
  t.equal(decodedBlob(document, budgetOf(99))?.toString(), '-----words-');
  for (const text of ['path/of/words', '+Zq8', '0a'.repeat(32), `path/${base64('words')}`]) {
    t.equal(decodedBlob(text, budgetOf(99)), undefined, text);
  }
  t.end();
});

t.test('a text is the document; other bytes are none', (t) => {
  const at = (index: number, byte: number) => Buffer.alloc(80, 'w').fill(byte, index, index + 1);
  for (const text of ['words\t\r\n and more', '\twords', '\u00e9']) {
    t.equal(decoded(text), Buffer.from(text).toString('latin1'));
  }
  for (const byte of [0, 0x0b, 0x0c, 0x0e, 0x1f, 0x7f]) {
    t.strictSame(decoded(at(1, byte)), nothing, String(byte));
    t.strictSame(decoded(at(63, byte)), nothing, String(byte));
    // The first 64 bytes decide.
    t.equal(decoded(at(64, byte)), at(64, byte).toString('latin1'), String(byte));
  }
  t.strictSame(decoded(at(0, 0x1f)), nothing);
  t.equal(decodedBlob('path/of/words', budgetOf(99)), undefined);
  const budget = budgetOf(10);
  t.equal(decoded('ten bytes.', budget), 'ten bytes.');
  t.equal(budget.left, 0);
  t.strictSame(decoded('ten bytes!', budgetOf(9)), secret);
  t.end();
});

t.test('a private key in DER is a secret', (t) => {
  const key = Buffer.from(`30770201010420${'0a'.repeat(32)}`, 'hex');
  const modulus = Buffer.from(`0201000282${'0a'.repeat(32)}`, 'hex');
  const around = (bytes: Buffer) => Buffer.concat([Buffer.from('\0\0'), bytes]);
  t.strictSame(decoded(key), secret);
  t.strictSame(decoded(Buffer.concat([Buffer.from(' \0'), key])), secret);
  t.strictSame(decoded(Buffer.concat([Buffer.from(' \0'), modulus])), secret);
  t.strictSame(decoded(around(Buffer.alloc(40, 0x0a))), nothing);
  t.end();
});

t.test('what is packed is the document', (t) => {
  const budget = budgetOf(100_000);
  t.equal(decoded(gzipSync('words'), budget), 'words');
  t.equal(budget.left, 100_000 - ATTEMPT - 'words'.length);
  t.notOk(budget.isExhausted);
  t.equal(decoded(zstdCompressSync('words')), 'words');
  t.equal(decoded(Buffer.concat([gzipSync('words '), gzipSync('and words')])), 'words and words');
  const long = Buffer.from(Array.from({ length: 2000 }, (_, index) => index * 7919).join(' '));
  const cut = decodedBlob(base64(gzipSync(long).subarray(0, 2000)), budgetOf(1 << 20));
  t.ok(Buffer.isBuffer(cut) && cut.length > 0 && long.indexOf(cut) === 0, 'as far as it goes');
  // A header without what belongs after it, or with something else.
  const header = gzipSync('words').subarray(0, 10);
  const damaged = Buffer.concat([header, Buffer.alloc(20, 0xff)]);
  t.strictSame(decoded(header), nothing);
  t.strictSame(decoded(damaged), nothing);
  t.equal(decoded(Buffer.concat([gzipSync('words'), damaged])), 'words');
  t.end();
});

t.test('what expands too much is a secret', (t) => {
  const table: [text: string, budget: number, isSecret: boolean][] = [
    ['words', ATTEMPT + 5, false],
    ['words', ATTEMPT + 4, true],
    ['words', ATTEMPT - 1, true],
  ];
  for (const [text, bytes, isSecret] of table) {
    const budget = budgetOf(bytes);
    t.strictSame(decoded(gzipSync(text), budget), isSecret ? secret : text, String(bytes));
    t.equal(budget.isExhausted, isSecret);
  }
  // 1000 bytes may expand to 200 times as many.
  for (const [length, isSecret] of [
    [200_000, false],
    [200_001, true],
  ] as const) {
    const packed = gzipSync(Buffer.alloc(length, 'a'));
    const bytes = Buffer.concat([packed, Buffer.alloc(1000 - packed.length)]);
    const budget = budgetOf(1 << 20);
    const found = decodedBlob(base64(bytes), budget);
    t.equal(found === 'secret' ? found : found?.length, isSecret ? 'secret' : length);
    t.equal(budget.isExhausted, isSecret);
  }
  t.end();
});
