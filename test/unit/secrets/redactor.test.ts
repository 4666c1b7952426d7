import t from 'tap';
import { createRedactor, redactorWith } from '../../../lib/secrets/redact/redactor.ts';
import { expectMarked, safe } from './marked.ts';

/** Longer than what is parsed as one value: a number after many blanks. */
const LARGE = `${`${' '.repeat(99)}\n`.repeat(23_000)}1`;

async function* pieces(...parts: readonly (string | Uint8Array)[]) {
  for (const part of parts) yield Buffer.from(part);
}

t.test('no chunk is empty', async (t) => {
  const redactor = createRedactor(Buffer.alloc(32), []);
  for (const format of ['text', 'json'] as const) {
    for (const input of [
      [],
      [''],
      ['a'],
      ['a: 1\n', '', 'b: 2\n', ''],
      [`\n${'words '.repeat(12_000)}\n`],
    ]) {
      const chunks = await Array.fromAsync(redactor[format](pieces(...input)));
      t.ok(
        chunks.every(({ length }) => length > 0),
        `${format} ${input}`.slice(0, 80),
      );
      t.equal(Buffer.concat(chunks).toString(), input.join(''));
    }
  }
});

t.test('bytes that are no UTF-8 stay beside documents', async (t) => {
  const redactor = createRedactor(Buffer.alloc(32), []);
  for (const format of ['json', 'text'] as const) {
    const bytes = Buffer.from('{"a": "\xe9\xff", "b": 1}\n', 'latin1');
    t.ok(Buffer.concat(await Array.fromAsync(redactor[format](pieces(bytes)))).equals(bytes));
  }
});

t.test('many documents in one chunk', async (t) => {
  const texts = [4097].map((count) => '{"password":"«word»"}\n'.repeat(count));
  await expectMarked(t, texts, { format: 'json', size: 1 << 20 });
});

t.test('values of a large object are judged by their keys', async (t) => {
  const redacted = async (text: string) => {
    const output = await safe(text.replace('LARGE', LARGE), { format: 'json' });
    return output.replace(LARGE, 'LARGE');
  };
  const item = '{"data":{"a":"d29yZA=="}}';
  const secret = '{"kind":"Secret","data":{"a":"#"}}';
  const table: [text: string, expected?: string][] = [
    ['{"x":LARGE,"token":"abcdef","b":"abcdef"}', '{"x":LARGE,"token":"#","b":"abcdef"}'],
    // Too short to be parsed.
    ['{"x":LARGE,"token":"abcde"}'],
    [
      `{"kind":"SecretList","items":[LARGE,${item},12345678]}`,
      `{"kind":"SecretList","items":[LARGE,${secret},12345678]}`,
    ],
    [`{"kind":"SecretList","other":[LARGE,${item}]}`],
    [`{"kind":"ListSecret","items":[LARGE,${item}]}`],
    [`{"kind":"SecretList ","items":[LARGE,${item}]}`],
    [`{"kind":["SecretList"],"items":[LARGE,${item}]}`],
    [`{"kind":"PodList","items":[LARGE,${item}]}`],
    [`{"kind":{"a":LARGE,"b":"SecretList"},"items":[LARGE,${item}]}`],
    [`{"a":"SecretList","items":[LARGE,${item}]}`],
    // Found in the text, with what is left of the line.
    [
      `{"items":[LARGE,${item}],"kind":"SecretList"}`,
      '{"items":[LARGE,{"data":{"a":"#"}}],"kind":"SecretList"}',
    ],
  ];
  for (const [text, expected = text] of table) t.equal(await redacted(text), expected, text);
});

t.test('texts in a document are redacted as text', async (t) => {
  const text = 'Pässwort 日本\npassword = hunter22\n';
  for (const format of ['json'] as const) {
    const output = JSON.parse(await safe(JSON.stringify({ a: text, b: 'é\n' }), { format }));
    t.strictSame(output, { a: text.replace('hunter22', '#'), b: 'é\n' }, format);
  }
});

t.test('marks and triggers can be chosen', async (t) => {
  const of = (secret: string) => `[${secret}]`;
  const { text } = redactorWith({ of }, ['Zq8mK2vW4t']);
  const output = await Array.fromAsync(text(pieces('password=hunter22 and Zq8mK2vW4t\n')));
  t.equal(Buffer.concat(output).toString(), 'password=[hunter22 and Zq8mK2vW4t]\n');
});
