import t from 'tap';
import { createRedactor, redactorWith } from '../../../lib/secrets/redact/redactor.ts';
import { safe } from './marked.ts';

async function* pieces(...parts: readonly (string | Uint8Array)[]) {
  for (const part of parts) yield Buffer.from(part);
}

t.test('no chunk is empty', async (t) => {
  const redactor = createRedactor(Buffer.alloc(32), []);
  for (const input of [
    [],
    [''],
    ['a'],
    ['a: 1\n', '', 'b: 2\n', ''],
    [`\n${'words '.repeat(12_000)}\n`],
  ]) {
    const chunks = await Array.fromAsync(redactor.text(pieces(...input)));
    t.ok(
      chunks.every(({ length }) => length > 0),
      `${input}`.slice(0, 80),
    );
    t.equal(Buffer.concat(chunks).toString(), input.join(''));
  }
});

t.test('bytes that are no UTF-8 stay', async (t) => {
  const redactor = createRedactor(Buffer.alloc(32), []);
  const bytes = Buffer.from('{"a": "\xe9\xff", "b": 1}\n', 'latin1');
  t.ok(Buffer.concat(await Array.fromAsync(redactor.text(pieces(bytes)))).equals(bytes));
});

t.test('texts in a document are redacted as text', async (t) => {
  const text = 'Pässwort 日本\npassword = hunter22\n';
  const output = JSON.parse(await safe(JSON.stringify({ a: text, b: 'é\n' })));
  t.strictSame(output, { a: text.replace('hunter22', '#'), b: 'é\n' });
});

t.test('marks and triggers can be chosen', async (t) => {
  const of = (secret: string) => `[${secret}]`;
  const { text } = redactorWith({ of }, ['Zq8mK2vW4t']);
  const output = await Array.fromAsync(text(pieces('password=hunter22 and Zq8mK2vW4t\n')));
  t.equal(Buffer.concat(output).toString(), 'password=[hunter22 and Zq8mK2vW4t]\n');
});
