import t from 'tap';
import { Budget } from '../../../lib/secrets/bytes/budget.ts';
import { Effort } from '../../../lib/secrets/redact/effort.ts';
import { KnownSecrets } from '../../../lib/secrets/redact/known.ts';
import { MAX_LINE_BYTES } from '../../../lib/secrets/redact/lines.ts';
import { marksWith } from '../../../lib/secrets/redact/marks.ts';
import { createRedactor } from '../../../lib/secrets/redact/redactor.ts';
import { STREAM_LIMITS, TextRedactor } from '../../../lib/secrets/redact/text.ts';
import { TriggerSearch } from '../../../lib/secrets/redact/triggers.ts';

const SECRET = 'f3Gh7Jk2Lm9Qr4St8Vw1';
const PHRASE = `${'correct horse battery staple '.repeat(60)}${SECRET}`;
const KNOWN = 'known words of this host';
/** What stands before the secret, the secret, what stands after it. */
const NOTATIONS = [
  ['password: ', SECRET, ' '],
  ['--password ', SECRET, ' '],
  ['"password": "', SECRET, '"'],
  ['password="', `${SECRET} and more words`, '"'],
  ['token ', 'abcdef.0123456789abcdef', ' '],
  ['Authorization: Bearer ', SECRET, ' '],
  ['machine a login b password ', SECRET, ' '],
  ['password="', PHRASE, '"'],
  ['"passphrase": "', `${'long phrase '.repeat(1000)}${SECRET}`, '"'],
  ['', KNOWN, ' '],
] as const;
const marks = marksWith(Buffer.alloc(32, 1));
const means = {
  known: new KnownSecrets([KNOWN], marks),
  triggers: new TriggerSearch(),
  marks,
};
const limits = () => ({ budget: new Budget(STREAM_LIMITS), effort: new Effort(() => 0) });
const words = (bytes: number) => 'ordinary words '.repeat(Math.ceil(bytes / 15)).slice(-bytes);

/** A line in two parts. */
function redacted(first: string, second: string): string {
  const redactor = new TextRedactor(means, limits());
  const parts = [redactor.push(Buffer.from(first)), redactor.push(Buffer.from(second))];
  return Buffer.concat([...parts, redactor.end()]).toString();
}

t.test('a line cut anywhere in a secret or before it does not show the secret', (t) => {
  for (const [name, secret, after] of NOTATIONS) {
    const text = name + secret + after;
    const step = Math.ceil(text.length / 40);
    for (let cut = 0; cut <= text.length; cut += step) {
      const line = words(20_000) + text;
      const safe = redacted(
        line.slice(0, 20_000 + cut),
        `${line.slice(20_000 + cut)}${words(20_000)}\n`,
      );
      const end = secret.slice(-16);
      t.notOk(safe.includes(end), `${name}${secret.length} bytes, cut after ${cut}`);
      t.ok(
        safe.startsWith(words(20_000).trim()) && safe.endsWith(`${words(20_000)}\n`),
        'the rest is there',
      );
    }
  }
  t.end();
});

t.test('a list of secrets as long as what is held back keeps its names', (t) => {
  const pairs = (count: number) =>
    Array.from({ length: count }, (_, at) => `password="${SECRET}${at}" `).join('');
  const line = pairs(1600);
  for (let cut = line.length - 40; cut <= line.length; cut++) {
    t.notOk(redacted(line.slice(0, cut), `${line.slice(cut)}${pairs(9)}\n`).includes(SECRET));
  }
  t.end();
});

t.test('a value without an end is bounded in memory', (t) => {
  const redactor = new TextRedactor(means, limits());
  const open = redactor.push(Buffer.from(`words password="${words(1 << 22)}`));
  t.match(open.toString(), /^words password="<redacted:[0-9a-f]+>$/);
  t.ok(redactor.end().length < 1 << 15, 'little is held');
  t.end();
});

t.test('lines that continue each other without an end are bounded in memory', (t) => {
  const redactor = new TextRedactor(means, limits());
  const lines = `PASSWORD=\\${' '.repeat(8192)}\n`.repeat(400);
  const written = redactor.push(Buffer.from(lines)).length;
  t.ok(written > lines.length / 4, `${written}`);
  t.end();
});

t.test('secrets at the cut of a line of more than a mebibyte are found', async (t) => {
  const redactor = createRedactor(Buffer.alloc(32, 1), [KNOWN]);
  for (const [name, secret] of NOTATIONS.slice(0, 4)) {
    const line = `${words(MAX_LINE_BYTES - name.length)}${name}${secret}" ${words(5000)}\n`;
    async function* chunks() {
      const bytes = Buffer.from(line);
      for (let at = 0; at < bytes.length; at += 1 << 16) yield bytes.subarray(at, at + (1 << 16));
    }
    const parts: Uint8Array[] = [];
    for await (const part of redactor.text(chunks())) parts.push(part);
    t.notOk(Buffer.concat(parts).includes(SECRET), name);
  }
});

t.test('a value of long lines below its name is bounded in memory', (t) => {
  const row = `  ${words(1 << 18)}\n`;
  for (const name of ['password: |\n']) {
    const redactor = new TextRedactor(means, limits());
    let lag = redactor.push(Buffer.from(name)).length;
    let most = 0;
    for (let count = 0; count < 30; count++) {
      lag += row.length - redactor.push(Buffer.from(row)).length;
      most = Math.max(most, lag);
    }
    t.ok(most < 6 << 20, `${name.trim()}: ${most}`);
    // More than these is held at first, so that values of many lines are found.
    const few = new TextRedactor(means, limits());
    const lines = `${name}${'  battery staple\n'.repeat(30)}`;
    const text = Buffer.concat([few.push(Buffer.from(lines)), few.end()]).toString();
    t.notMatch(text, /battery/);
  }
  t.end();
});
