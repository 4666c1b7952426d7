import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { decodeDataUrl } from '../../../../lib/base/data-url.ts';
import { dataUrl, matchesHash } from '../../../../lib/render/ignition/data-url.ts';

const noise = createHash('sha512').update('noise').digest();

const ENCODED: readonly {
  name: string;
  contents: string | Uint8Array;
  gzip?: boolean;
  form: RegExp;
  compression?: string;
}[] = [
  { name: 'empty', contents: '', form: /^data:,$/ },
  { name: 'short text', contents: 'sno1\n', form: /^data:,sno1%0A$/ },
  { name: 'text with many escapes', contents: '{"":{"":""}}\n', form: /^data:;base64,/ },
  { name: 'text that is not ASCII', contents: 'ä', form: /^data:,%C3%A4$/ },
  { name: 'bytes that are not UTF-8', contents: noise, form: /^data:;base64,/ },
  {
    name: 'long text',
    contents: 'a b\n'.repeat(999),
    form: /^data:;base64,H4sI/,
    compression: 'gzip',
  },
  {
    name: 'long text, no gzip',
    contents: 'ab '.repeat(99),
    gzip: false,
    form: /^data:;base64,YWIg/,
  },
  { name: 'long plain text, no gzip', contents: 'ab'.repeat(99), gzip: false, form: /^data:,abab/ },
];

for (const { name, contents, gzip = true, form, compression } of ENCODED) {
  t.test(name, async (t) => {
    const resource = dataUrl(contents, { gzip });
    t.match(resource.source, form);
    t.equal(resource.compression, compression);
    t.same(decodeDataUrl(resource), Buffer.from(contents), 'comes back unchanged');
    const hex = createHash('sha512').update(contents).digest('hex');
    t.same(resource.verification, { hash: `sha512-${hex}` }, 'hash of the decompressed bytes');
    t.ok(matchesHash(resource, decodeDataUrl(resource)));
    t.same(dataUrl(contents, { gzip }), resource, 'the same every time');
  });
}

t.test('gzip is used unless disabled', async (t) => {
  const contents = 'a b\n'.repeat(999);
  t.strictSame(dataUrl(contents), dataUrl(contents, { gzip: true }));
});

const DECODED: readonly (readonly [string, string])[] = [
  ['data:,a%20b+c', 'a b+c'],
  ['data:text/plain;charset=utf-8,x', 'x'],
  ['data:text/plain;base64,eA==', 'x'],
  ['data:;base64,eA%3D%3D', 'x'],
  ['data:,a,b', 'a,b'],
  ['DATA:,a', 'a'],
  ['data:;BASE64,eA==', 'x'],
  ['data:;base64;charset=utf-8,eA==', 'eA=='],
  ['data:,a\nb;base64,c', 'a\nb;base64,c'],
  ['data:,ä', 'ä'],
];
for (const [source, contents] of DECODED) {
  t.test(`decode ${source}`, async (t) => {
    t.equal(decodeDataUrl({ source }).toString('utf8'), contents);
  });
}
t.test('decode bytes that are not UTF-8', async (t) => {
  t.same(decodeDataUrl({ source: 'data:,%ff%00' }), Buffer.from([255, 0]));
});

for (const source of [
  undefined,
  'https://x/y',
  'https://x/data:,y',
  'data:x',
  'data:,%zz',
  'data:;base64,a',
  'data:;base64,a!==',
]) {
  t.test(`refuse ${source}`, async (t) => {
    t.throws(() => decodeDataUrl({ ...(source === undefined ? {} : { source }) }), {
      kind: 'fatal',
      message: /cannot be decoded/,
    });
  });
}
t.test('refuse contents that are not gzip, or do not match the hash', async (t) => {
  t.throws(() => decodeDataUrl({ source: 'data:,x', compression: 'gzip' }), {
    message: /not gzip/,
  });
  const source = `data:;base64,${gzipSync('y').toString('base64')}`;
  const resource = { ...dataUrl('x'), source, compression: 'gzip' as const };
  t.notOk(matchesHash(resource, decodeDataUrl(resource)));
});

t.test('contents that are too large are called so', async (t) => {
  const gzip = (bytes: number) => {
    const source = `data:;base64,${gzipSync(Buffer.alloc(bytes)).toString('base64')}`;
    return { source, compression: 'gzip' };
  };
  t.equal(decodeDataUrl(gzip(2 ** 20), 2 ** 20).length, 2 ** 20);
  t.throws(() => decodeDataUrl(gzip(2 ** 20 + 1), 2 ** 20), {
    message: 'A source cannot be decoded: it is more than 1 MiB decompressed',
  });
});

t.test('a hash may be of either kind; without one any bytes are accepted', async (t) => {
  const bytes = Buffer.from('x');
  for (const algorithm of ['sha256', 'sha512']) {
    const hash = `${algorithm}-${createHash(algorithm).update('x').digest('hex')}`;
    t.ok(matchesHash({ verification: { hash } }, bytes), algorithm);
    t.notOk(matchesHash({ verification: { hash } }, Buffer.from('y')), algorithm);
  }
  for (const resource of [{}, { verification: {} }]) t.ok(matchesHash(resource, bytes));
});
