import { generateKeyPairSync, randomBytes } from 'node:crypto';
import t from 'tap';
import { createRedactor } from '../../../lib/secrets/redact/redactor.ts';
import { KINDS } from './kinds.ts';
import { PLACES } from './places.ts';
import { SeededRandom } from './random.ts';
import { redacted } from './streams.ts';
import { traces } from './traces.ts';

// A lot of work, possibly on a busy machine.

const PREFIX = '2026-11-21T14:58:25.015507+0000 sno-0 app[4242]: ';
const redactor = createRedactor(randomBytes(32), []);
/** Takes a tenth of a second to make. */
const KEY = String(
  generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
    type: 'pkcs8',
    format: 'pem',
  }),
).trimEnd();
const bodyOf = (pem: string) => pem.split('\n').filter((line) => !line.startsWith('-'));

/** Every kind of secret in every kind of text, with ordinary lines between them. */
function everySecret(random: SeededRandom): Buffer {
  const filler = () => `${PREFIX}${'ordinary words '.repeat(random.integer(1, 60))}\n`;
  const parts = KINDS.flatMap((kind) => {
    const { field, value } = kind.make(random);
    return PLACES.flatMap((place) => [place.write(field, value), filler()]);
  });
  return Buffer.from(parts.join('\n'));
}

t.test('how a stream is split makes no difference', async (t) => {
  const random = new SeededRandom(1);
  const text = everySecret(random);
  const expected = await redacted(redactor.text, text, () => text.length);
  for (const most of [40, 5000, 200_000]) {
    const output = await redacted(redactor.text, text, () => random.integer(1, most));
    t.equal(firstDifference(output, expected), undefined, `pieces of up to ${most} bytes`);
  }
});

t.test('a key whose beginning was lost in log rotation', async (t) => {
  const pem = KEY;
  const filler = `${PREFIX}words\n`.repeat(1185);
  for (const [prefix, end] of [
    ['', '\n'],
    ['    ', '\n'],
    [PREFIX, '\n'],
    [PREFIX, '\r\n'],
  ]) {
    for (const lines of [26, 12, 2, 1]) {
      const rest = pem.split('\n').slice(-lines - 1);
      const text = [...rest, 'an ordinary line'].map((line) => `${prefix}${line}${end}`).join('');
      // Blocks end within it.
      const output = await redacted(redactor.text, Buffer.from(filler + text), () => 1000);
      t.strictSame(traces(output.subarray(filler.length), bodyOf(pem).slice(-lines)), []);
      t.ok(output.toString().endsWith(`${prefix}an ordinary line${end}`));
      t.ok(output.toString().startsWith(filler));
    }
  }
});

t.test('a key whose end is missing', async (t) => {
  for (const prefix of ['', PREFIX]) {
    const pem = KEY;
    const text = [...pem.split('\n').slice(0, 20), 'an ordinary line'].map(
      (line) => `${prefix}${line}\n`,
    );
    const many = Array.from({ length: 3000 }, (_, index) => `${prefix}line ${index}\n`);
    const output = await redacted(redactor.text, Buffer.from([...text, ...many].join('')));
    t.strictSame(traces(output, bodyOf(pem).slice(0, 19)), []);
    t.match(output.toString(), `${prefix}an ordinary line\n${many.join('')}`);
  }
});

t.test('a key between lines of other programs', async (t) => {
  const pem = KEY;
  const text = pem
    .split('\n')
    .flatMap((line) => [`${PREFIX}${line}`, '2026-11-21T14:58:25 sno-0 other[1]: words and words'])
    .join('\r\n');
  const output = await redacted(redactor.text, Buffer.from(text));
  t.strictSame(traces(output, bodyOf(pem)), []);
  t.equal(output.toString().split('other[1]: words and words').length, text.split('other').length);
});

t.test('a key in one line has the same mark as in many lines', async (t) => {
  const pem = KEY;
  const text = `${pem}\nkey: ${JSON.stringify(`${pem}\n`)}\n`;
  const output = (await redacted(redactor.text, Buffer.from(text))).toString();
  t.equal(new Set(output.match(/<redacted:\w+>/g)).size, 1, output);
});

t.test('lines too long to be kept in memory', async (t) => {
  const words = 'ordinary words, '.repeat(80_000);
  const secret = `password="${randomBytes(12).toString('hex')}"`;
  const text = `${words}${secret} ${words}${secret}\n${secret}\n`;
  const output = (await redacted(redactor.text, Buffer.from(text))).toString();
  t.equal(output.replaceAll(/<redacted:\w+>/g, secret.slice(10, -1)), text);
  t.notOk(output.includes(secret));
});

t.test('a long secret is removed as a whole', async (t) => {
  for (const length of [700, 1000, 1024, 3000, 50_000]) {
    const value = randomBytes(length).toString('hex').slice(0, length);
    const output = await redacted(redactor.text, Buffer.from(`a password=${value} b\n`));
    t.match(output.toString(), /^a password=<redacted:\w{8}> b\n$/, `${length}`);
  }
});

t.test('a word too long to be examined is left out', async (t) => {
  const word = randomBytes(3_000_000).toString('base64');
  const output = await redacted(redactor.text, Buffer.from(`before ${word} after\nline\n`));
  t.equal(output.toString(), 'before <redacted> after\nline\n');
});

t.test('a long list is never completely in memory', async (t) => {
  const item = (index: number) => ({
    metadata: { name: `pod-${index}`, uid: index, labels: { app: 'x'.repeat(900) } },
    spec: { containers: [{ env: [{ name: 'DB_PASSWORD', value: `hunter-${index}` }] }] },
  });
  let given = 0;
  async function* list() {
    yield Buffer.from('{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[');
    for (let page = 0; page < 15; page++) {
      const items = Array.from({ length: 1000 }, (_, index) => JSON.stringify(item(index)));
      const text = `${page === 0 ? '' : ','}${items.join(',')}`;
      given += text.length;
      yield Buffer.from(text);
    }
    yield Buffer.from(']}\n');
  }
  let marks = 0;
  let taken = 0;
  let behind = 0;
  let isClean = true;
  for await (const chunk of redactor.text(list())) {
    const text = Buffer.from(chunk).toString('latin1');
    isClean &&= !text.includes('hunter-');
    marks += text.split('"value":"<redacted').length - 1;
    taken += chunk.length;
    behind = Math.max(behind, given - taken);
  }
  t.ok(isClean);
  t.ok(marks > 14_900, `${marks} of 15000`);
  // Up to two mebibytes before the size of the list is known, and one for a line.
  t.ok(behind < 8e6, `${behind} of ${given} bytes`);
});

function firstDifference(a: Buffer, b: Buffer): string | undefined {
  if (a.equals(b)) return undefined;
  let at = 0;
  while (a[at] === b[at]) at++;
  const around = (bytes: Buffer) => bytes.toString('latin1', Math.max(0, at - 300), at + 200);
  return `${around(a)}\n--- expected\n${around(b)}`;
}
