import { createPublicKey, randomBytes } from 'node:crypto';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import t from 'tap';
import { scanForKeys } from '../../../lib/secrets/key-scan.ts';
import { defaultScanLimits } from '../../../lib/secrets/scan/scan.ts';
import { newEcKey, newRsaKey, plantedKey } from '../../unit/secrets/key-scan-forms.ts';

// A lot of work, possibly on a busy machine.

const signal = AbortSignal.timeout(120_000);

/** The contents in pieces whose memory is reused, as a file reader does. */
async function* pieces(contents: Buffer, length = 1 << 16): AsyncGenerator<Buffer> {
  const memory = Buffer.alloc(length);
  for (let at = 0; at < contents.length; at += length) {
    const copied = contents.copy(memory, 0, at, at + length);
    yield memory.subarray(0, copied);
    memory.fill(0);
  }
}

const nothing = Buffer.alloc(0);

const scan = (contents: Buffer | string, length?: number, limits = defaultScanLimits) =>
  scanForKeys(pieces(Buffer.from(contents), length), signal, limits);

const keys = [
  plantedKey('P-256', newEcKey()),
  plantedKey('P-384', newEcKey('P-384')),
  plantedKey('RSA 2048', newRsaKey(), 'pkcs1'),
];

for (const { name, fingerprint, forms } of keys) {
  t.test(`${name} is found in every form, and no other key`, async (t) => {
    for (const [form, contents] of Object.entries(forms)) {
      const { keys: found, complete, bytes } = await scan(contents);
      t.strictSame([...found], [fingerprint], form);
      t.ok(complete, `${form}: complete`);
      t.equal(bytes, contents.length);
    }
  });
}

t.test('RSA of other lengths', async (t) => {
  for (const bits of [1024, 3072, 4096]) {
    const { fingerprint, forms } = plantedKey(String(bits), newRsaKey(bits), 'pkcs1');
    const found = (await scan(forms['PEM, PKCS#8'] ?? '')).keys;
    t.strictSame([...found], [fingerprint], `${bits} bits`);
  }
});

t.test('a key across pieces, wherever they are cut', async (t) => {
  const { fingerprint, forms } = plantedKey('P-256', newEcKey());
  const cut = [
    'PEM, PKCS#8',
    'DER, sec1',
    'PEM in a data URL',
    'base64 twice',
    'gzip',
    'zstd in noise',
  ];
  for (const form of cut) {
    const contents = forms[form] ?? Buffer.alloc(0);
    for (const length of [7, 61, 64, 100, 1000, 4096]) {
      const { keys: found } = await scan(contents, length);
      t.ok(found.has(fingerprint), `${form} in pieces of ${length}`);
    }
  }
  for (let before = 4000; before < 4110; before += 3) {
    const contents = Buffer.concat([Buffer.alloc(before, ' '), forms['DER, PKCS#8'] ?? nothing]);
    t.ok((await scan(contents, 4096)).keys.has(fingerprint), `DER at ${before}`);
  }
});

t.test('many keys in one file', async (t) => {
  const many = Array.from({ length: 40 }, () => plantedKey('P-256', newEcKey()));
  const contents = Buffer.concat(
    many
      .flatMap(({ forms }) => [forms['PEM in JSON'] ?? '', forms.gzip ?? ''])
      .map((part) => Buffer.from(part)),
  );
  const { keys: found } = await scan(contents, 10_000);
  t.strictSame([...found].sort(), many.map(({ fingerprint }) => fingerprint).sort());
});

t.test('noise has no keys and throws nothing', async (t) => {
  const marker = (hex: string) => Buffer.from(hex.repeat(3000), 'hex');
  const noises: Record<string, Buffer> = {
    nothing: Buffer.alloc(0),
    random: randomBytes(2 << 20),
    'base64 of random': Buffer.from(randomBytes(1 << 20).toString('base64')),
    'a percent sign again and again': Buffer.alloc(200_000, '%'),
    'backslashes without end': Buffer.alloc(200_000, '\\'),
    'one letter without end': Buffer.alloc(500_000, 'A'),
    digests: Buffer.from(`${randomBytes(64).toString('hex')}\n`.repeat(5000)),
    'gzip headers': marker('1f8b0800000000000003'),
    'gzip headers with endless names': marker('1f8b080800000000000341'),
    'zstd magic': marker('28b52ffd'),
    'zstd headers': marker('28b52ffd04580100'),
    'RSA marker': marker('0201000282'),
    'RSA marker and lengths': marker('020100028201010201000282'),
    'EC marker and no number': marker('0201010420'),
    'EC marker and zeros': Buffer.concat([
      marker('02'),
      Buffer.from('0201010420', 'hex'),
      Buffer.alloc(64),
    ]),
    'truncated EC': Buffer.from('020101042011', 'hex'),
    'damaged gzip': Buffer.from(
      gzipSync(randomBytes(400_000)).map((byte, at) => (at === 300_000 ? byte ^ 0xff : byte)),
    ),
    'damaged zstd': Buffer.from(
      zstdCompressSync('text '.repeat(100_000)).map((byte, at) => (at > 20 ? byte ^ 0xff : byte)),
    ),
  };
  for (const [name, contents] of Object.entries(noises)) {
    const { keys: found } = await scan(contents);
    // Repeated markers can have the structure of a key.
    t.ok(found.size <= (/^(EC|RSA) marker/.test(name) ? 5 : 0), name);
  }
});

t.test('a public key is not a private key', async (t) => {
  const publicKey = createPublicKey(newRsaKey());
  t.equal((await scan(publicKey.export({ type: 'spki', format: 'pem' }))).keys.size, 0);
  t.equal((await scan(publicKey.export({ type: 'pkcs1', format: 'der' }))).keys.size, 0);
});

t.test('data that expands too much is cut off and reported', async (t) => {
  const limits = { ...defaultScanLimits, bytes: 8 << 20, perByte: 1 };
  const zeros = Buffer.alloc(64 << 20);
  const bombs: Record<string, Buffer> = {
    gzip: gzipSync(zeros),
    zstd: zstdCompressSync(zeros),
    'gzip in gzip': gzipSync(gzipSync(zeros)),
    'base64 of gzip': Buffer.from(gzipSync(zeros).toString('base64')),
  };
  for (const [name, contents] of Object.entries(bombs)) {
    t.equal((await scan(contents, undefined, limits)).complete, false, name);
  }
  const { fingerprint, forms } = plantedKey('P-256', newEcKey());
  const after = Buffer.concat([
    gzipSync(zeros),
    Buffer.alloc(300_000),
    forms['DER, PKCS#8'] ?? nothing,
  ]);
  t.ok((await scan(after, undefined, limits)).keys.has(fingerprint), 'what follows is looked at');
  const deep = Array.from({ length: 12 }).reduce<Buffer>(
    (inner) => gzipSync(inner),
    Buffer.from('x'),
  );
  t.equal((await scan(deep)).keys.size, 0);
});

t.test('the signal ends a scan', async (t) => {
  const reason = new Error('told to stop');
  const bomb = gzipSync(Buffer.alloc(64 << 20));
  await t.rejects(scanForKeys(pieces(bomb), AbortSignal.abort(reason)), reason);
  const stop = new AbortController();
  setImmediate(() => stop.abort(reason));
  await t.rejects(scanForKeys(pieces(bomb), stop.signal), reason);
});
