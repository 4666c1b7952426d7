import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import t from 'tap';
import { Budget } from '../../../lib/secrets/bytes/budget.ts';
import { decodedBlob } from '../../../lib/secrets/redact/blobs.ts';
import { Effort } from '../../../lib/secrets/redact/effort.ts';
import { KnownSecrets } from '../../../lib/secrets/redact/known.ts';
import { TextRedactor } from '../../../lib/secrets/redact/text.ts';
import { TriggerSearch } from '../../../lib/secrets/redact/triggers.ts';

const MIB = 1 << 20;
const large = (limits: { bytes?: number; depth?: number } = {}) =>
  new Budget({ bytes: 64 * MIB, perByte: 0, depth: 3, ...limits });
const encode = (bytes: string | Buffer) => Buffer.from(bytes).toString('base64');
const read = (bytes: string | Buffer, budget = large()) => {
  const found = decodedBlob(encode(bytes), budget);
  return found === undefined || found === 'secret' ? found : found.toString();
};

const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const ed = generateKeyPairSync('ed25519').privateKey;
const rsa = generateKeyPairSync('rsa', { modulusLength: 1024 });
const locked = { format: 'der', cipher: 'aes-256-cbc', passphrase: 'x' } as const;

t.test('keys in base64 are secrets', async (t) => {
  const keys: Record<string, Buffer> = {
    'EC, PKCS #8': ec.privateKey.export({ type: 'pkcs8', format: 'der' }),
    'EC, SEC 1': ec.privateKey.export({ type: 'sec1', format: 'der' }),
    'Ed25519, PKCS #8': ed.export({ type: 'pkcs8', format: 'der' }),
    'RSA, PKCS #8': rsa.privateKey.export({ type: 'pkcs8', format: 'der' }),
    'RSA, PKCS #1': rsa.privateKey.export({ type: 'pkcs1', format: 'der' }),
    'encrypted, PKCS #8': rsa.privateKey.export({ type: 'pkcs8', ...locked }),
    'encrypted, short': ed.export({ type: 'pkcs8', ...locked }),
    OpenSSH: Buffer.concat([Buffer.from('openssh-key-v1\0'), randomBytes(99)]),
    'PKCS #12': Buffer.concat([Buffer.from('308203000201033082', 'hex'), randomBytes(99)]),
  };
  for (const [name, key] of Object.entries(keys)) {
    t.equal(read(key), 'secret', name);
    if (name.startsWith('encrypted')) continue;
    t.equal(read(key.subarray(0, 48)), 'secret', `${name}, cut off`);
  }
  for (const name of ['EC, PKCS #8', 'RSA, PKCS #1']) {
    const archive = Buffer.concat([Buffer.alloc(512, 'n\0'), keys[name] ?? Buffer.alloc(0)]);
    t.equal(read(archive), 'secret', `${name} in an archive`);
  }
});

t.test('other bytes in base64', async (t) => {
  const spki = { type: 'spki', format: 'der' } as const;
  for (const bytes of [ec.publicKey.export(spki), rsa.publicKey.export(spki)]) {
    t.equal(read(bytes), undefined, 'a public key');
  }
  t.equal(read(Buffer.from('3003020100', 'hex')), undefined, 'a version alone');
  t.equal(read(Buffer.alloc(64, 0xfe)), undefined, 'neither text nor packed');
  t.equal(decodedBlob('deadbeef'.repeat(8), large()), undefined, 'a digest');
  t.equal(read('words\tand\r\nwords'), 'words\tand\r\nwords', 'text');
  t.equal(read('words\x7fwords'), undefined);
  t.equal(read('words\x01words'), undefined);
  t.equal(decodedBlob(encode('\x0bwords and words'), large()), undefined, 'its first byte');
  const judged = 'words'.padEnd(64);
  t.equal(read(`${judged}\x01`), `${judged}\x01`, 'by its first 64 bytes');
  t.equal(read(`${judged.slice(1)}\x01`), undefined);
});

t.test('compressed data is read, wherever it begins and ends', async (t) => {
  const text = 'words and words '.repeat(9);
  const noise = Buffer.alloc(99, 0xfe);
  const damaged = gzipSync(text);
  damaged.writeUInt32LE(0, damaged.length - 8);
  const packed: Record<string, Buffer> = {
    gzip: gzipSync(text),
    'gzip with a name': Buffer.concat([
      Buffer.from('1f8b08080000000000036100', 'hex'),
      gzipSync(text).subarray(10),
    ]),
    'gzip with a wrong checksum': damaged,
    'gzip with something after it': Buffer.concat([gzipSync(text), noise]),
    'gzip, cut off': gzipSync(text).subarray(0, -9),
    'gzip in an archive': Buffer.concat([Buffer.alloc(512, 'n\0'), gzipSync(text)]),
    zstd: zstdCompressSync(text),
    'zstd with something after it': Buffer.concat([zstdCompressSync(text), noise]),
  };
  for (const [name, bytes] of Object.entries(packed)) t.equal(read(bytes), text, name);
  const two = Buffer.concat([gzipSync(text), gzipSync('more')]);
  t.equal(read(two), `${text}more`, 'both members');
  t.equal(read(Buffer.from('1f8b0800000000000003ffff', 'hex')), undefined, 'no deflate');
});

t.test('data that expands too much is removed without being decoded', async (t) => {
  const zeros = gzipSync(Buffer.alloc(8 * MIB));
  t.equal(read(zeros), 'secret', 'about a thousand times its size');
  const packed = gzipSync('a'.repeat(200_000));
  const padded = (length: number) =>
    Buffer.concat([packed, Buffer.alloc(length - packed.length, 0xfe)]);
  t.equal(read(padded(999)), 'secret', 'more than 200 times its size');
  t.equal(read(padded(1000))?.length, 200_000, 'not more');
  t.equal(
    read(gzipSync('a'.repeat(900)), large({ bytes: 32_768 + 899 })),
    'secret',
    'more than the budget',
  );
  t.not(
    read(gzipSync('a'.repeat(900)), large({ bytes: 32_768 + 900 })),
    'secret',
    'as much as the budget',
  );
  t.equal(read('words '.repeat(9), large({ bytes: 50 })), 'secret', 'text');
});

const marks = { of: () => '<redacted:0>' };
const means = {
  known: new KnownSecrets([], marks),
  triggers: new TriggerSearch(),
  marks,
};
const redact = (text: string, budget: Budget) =>
  new TextRedactor(means, { budget, effort: new Effort() }).whole(Buffer.from(text)).toString();

t.test('all levels of a line share one budget', async (t) => {
  const words = `${randomBytes(8 << 10).toString('hex')} `;
  const inner = Array.from({ length: 40 }, (_, at) =>
    encode(gzipSync(`${at} ${words.repeat(48)}`)),
  );
  const line = `payload ${encode(gzipSync(inner.join(' ')))} end`;
  const budget = large({ bytes: 1 << 30 });
  t.equal(redact(line, budget), 'payload <redacted:0> end', 'it is marked');
  const spent = (1 << 30) - budget.left;
  t.ok(spent > 3 * MIB && spent <= 4 * MIB, `${spent} bytes unpacked of about 30 MiB`);
  t.ok(budget.isExhausted);
  const ordinary = `payload ${encode(gzipSync(inner.slice(0, 4).join(' ')))} end`;
  t.equal(redact(ordinary, large()), ordinary, 'less than that is looked at and stays');
});

t.test('all lines of a stream share one budget', async (t) => {
  const blob = encode('ordinary words '.repeat(10));
  const percent = encodeURIComponent('{"a": "ordinary words"}');
  t.equal(redact(`${blob} a\n${blob} b\n`, large({ bytes: 300 })), `${blob} a\n${blob} b\n`);
  t.equal(redact(`${blob} a\n${blob} b\n`, large({ bytes: 299 })), `${blob} a\n<redacted:0> b\n`);
  t.equal(redact(`x=${percent}\n`, large({ bytes: 9 })), 'x=<redacted:0>\n');
  t.equal(redact(`x=${percent}\n`, large()), `x=${percent}\n`);
  const hex = Buffer.from('words and words').toString('hex').toUpperCase();
  t.equal(redact(`proctitle=${hex} b`, large({ bytes: 1024 + 14 })), 'proctitle=<redacted:0> b');
  t.equal(redact(`proctitle=${hex} b`, large({ bytes: 1024 + 15 })), `proctitle=${hex} b`);
});

t.test('nested encodings, up to the maximum depth', async (t) => {
  const nested = (times: number): string =>
    times === 0 ? 'password=correcthorse and words' : encode(nested(times - 1));
  for (const times of [1, 2, 3]) t.equal(redact(nested(times), large()), '<redacted:0>');
  t.equal(redact(nested(4), large()), nested(4));
  t.equal(redact(nested(3), large({ depth: 2 })), nested(3));
});

t.test('a budget', async (t) => {
  let now = 0;
  const budget = new Budget({ bytes: 10, perByte: 2, depth: 1, ms: 100 }, () => now);
  t.ok(budget.spend(10));
  t.notOk(budget.isExhausted);
  t.notOk(budget.spend(1));
  t.ok(budget.isExhausted, 'a refusal is noted');
  budget.read(3);
  t.equal(budget.left, 6, 'what is read allows for more');
  const part = budget.part({ bytes: 4, perByte: 0 });
  t.notOk(part.spend(5), 'the bound of the part');
  t.ok(part.spend(4));
  t.equal(budget.left, 2, 'a part spends from the whole');
  t.notOk(budget.part({ bytes: 4, perByte: 0 }).spend(3), 'the bound of the whole');
  now = 100;
  t.ok(budget.spend(1));
  now = 101;
  t.notOk(budget.spend(1), 'the time is over');
  const whole = new Budget({ bytes: 9, perByte: 0, depth: 1 });
  whole.part({ bytes: 1, perByte: 0 }).spend(2);
  t.ok(whole.isExhausted, 'a part tells the whole');
});
