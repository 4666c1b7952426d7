import { generateKeyPairSync } from 'node:crypto';
import t from 'tap';
import { Budget } from '../../../lib/secrets/bytes/budget.ts';
import { Effort } from '../../../lib/secrets/redact/effort.ts';
import { KnownSecrets } from '../../../lib/secrets/redact/known.ts';
import { type Pattern, ruleOf } from '../../../lib/secrets/redact/pattern.ts';
import { STREAM_LIMITS, TextRedactor } from '../../../lib/secrets/redact/text.ts';
import { TriggerSearch } from '../../../lib/secrets/redact/triggers.ts';
import { expectMarked, safe } from './marked.ts';

const base64 = (text: string | Buffer) => Buffer.from(text).toString('base64');
const triggers = new TriggerSearch();

/** A redactor whose marks are numbered, and what it says of its work and its secrets. */
function recorded() {
  const work: string[] = [];
  const secrets: string[] = [];
  const marks = { of: (secret: string) => `<redacted:${secrets.push(secret)}>` };
  const effort = {
    block: (bytes: number) => void work.push(`begin ${bytes}`),
    isSpent: () => false,
    end: () => void work.push('end'),
  };
  const means = { known: new KnownSecrets([], marks), triggers, marks };
  const redactor = new TextRedactor(means, { budget: new Budget(STREAM_LIMITS), effort });
  const push = (text: string) => redactor.push(Buffer.from(text)).toString();
  const whole = (text: string) => redactor.whole(Buffer.from(text)).toString();
  return { work, secrets, push, whole, end: () => redactor.end().toString() };
}

/** A block is searched for known secrets first, and then by the rules; each has an effort of its own. */
const scanned = (bytes: number) => [`begin ${bytes}`, 'end', `begin ${bytes}`, 'end'];

t.test('text that is held back is scanned again when it has doubled', async (t) => {
  const { work, push, end } = recorded();
  const open = `-----BEGIN EC PRIVATE KEY-----\n${'A'.repeat(68)}\n`;
  t.equal(push(`words\n${open}`), 'words\n', 'the key may go on');
  t.strictSame(work.splice(0), scanned(106));
  t.equal(push(`${'B'.repeat(98)}\n`), '');
  t.strictSame(work, [], 'one byte is missing');
  t.equal(push('\n'), '');
  t.strictSame(work.splice(0), scanned(200));
  t.equal(push('-----END EC PRIVATE KEY-----\n'), '');
  t.match(push('words\n'.repeat(29)), /^<redacted:\d>\n(?:<redacted:\d>\n|\n)+(?:words\n){28}$/);
  t.strictSame(work.splice(0), scanned(403));
  t.equal(end(), 'words\n', 'the last line is held');
  t.strictSame(work.splice(0), scanned(6));
});

t.test('only what may go on is held back', async (t) => {
  const blob = 'QUJD'.repeat(10);
  for (const open of [`${blob}\n`, `log: ${blob}\n`, 'password: |\n', 'words\n']) {
    const { push, end } = recorded();
    t.equal(push(`words\n${open}`), 'words\n', open);
    t.equal(end(), open);
  }
});

t.test('an encoded document is a part of its block', async (t) => {
  const { work, whole } = recorded();
  whole(`got ${base64('password=hunter22 and words')} b`);
  t.strictSame(work, scanned(42));
});

t.test('what is held back is written with its secrets out', async (t) => {
  const { push, end, secrets } = recorded();
  t.equal(push('a\npassword: |\n  hunter22\n'), 'a\n', 'the block may go on');
  t.equal(
    push('  hunter23\nb: c\nand more\n'),
    'password: |\n  <redacted:2>\n  <redacted:3>\nb: c\n',
  );
  t.equal(end(), 'and more\n');
  t.strictSame(secrets, ['hunter22', 'hunter22', 'hunter23']);
});

t.test('where blocks end makes no difference to values of several lines', async (t) => {
  for (const text of [
    'a\npassword: |\n  «hunter22»\n\n  «hunter23»\nb: c\n',
    'a\npassword: |\n  «hunter22»',
    'a\npassword:\n  «hunter22»\nb: c\n',
    '- name: DB_PASSWORD\n  value: «hunter 22»\n- name: A\n  value: words\n',
    '- name: DB_PASSWORD\n  value: |\n    «hunter 22»\n    «hunter 23»\n- name: A\n',
    'kind: Secret\ndata:\n  a: «aGk=»\n  b: «aGk=»\nc: d\n',
    'data:\n  a: «aGk=»\nkind: Secret\nc: d\n',
    '«-----BEGIN EC PRIVATE KEY-----»\n«MHcCAQEEIZq8mK2vW4tYxR6nB»\n«-----END EC PRIVATE KEY-----»\nb\n',
  ]) {
    const lines = text.replace(/[«»]/g, '').split(/(?<=\n)/);
    const expected = text.replace(/«[^«»]*»/g, '#');
    for (let first = 0; first < lines.length; first++) {
      for (let second = first + 1; second <= Math.min(9, lines.length); second++) {
        const { push, end } = recorded();
        const blocks = [lines.slice(0, first), lines.slice(first, second), lines.slice(second)];
        const parts = blocks.map((block) => (block.length === 0 ? '' : push(block.join(''))));
        const output = `${parts.join('')}${end()}`.replace(/<redacted:\d+>/g, '#');
        t.equal(output, expected, `${JSON.stringify(text)}, after ${first} and ${second} lines`);
      }
    }
  }
});

t.test('only within a secret nothing else is looked for', async (t) => {
  await expectMarked(t, [
    'got password=«token=Zq8mK2vW4tYxR6nB» b',
    'got password="«hunter22»"pw"=«word»',
    '"password":"«https://me:hunter22@host»" b https://me:«hunter22»@host',
    'kind: Secret\ndata:\n  password: «aHVudGVyMjI=»\nb: password=«hunter22»\n',
  ]);
});

t.test('a secret is marked once, and nothing in it', async (t) => {
  for (const [text, expected] of [
    ['got password=ghp_Zq8mK2vW4tYxR6nBAAAA b', ['ghp_Zq8mK2vW4tYxR6nBAAAA']],
    ['got password=xhttps://me:ghp_word@host b', ['xhttps://me:ghp_word@host']],
    ['got password=hunter22 ghp_Zq8mK2vW4tYxR6nBAAAA', ['hunter22', 'ghp_Zq8mK2vW4tYxR6nBAAAA']],
    ['got {"kind":"Secret","data":{"a":"aHVudGVyMjI="}} b', ['hunter22']],
    ['x?password%3Dhunter22%3Aabc b', ['hunter22:abc', 'password=hunter22:abc']],
    [
      '{"name":"DB_PASSWORD","type":"ghp_Zq8mK2vW4tYxR6nBAAAA","value":"hunter22"}',
      ['hunter22', 'ghp_Zq8mK2vW4tYxR6nBAAAA'],
    ],
  ] as const) {
    const { whole, secrets } = recorded();
    whole(text);
    t.strictSame(secrets, expected, text);
  }
});

/** How many matches of a pattern are judged in a text. */
function judged(text: string, pattern: Omit<Pattern, 'triggers' | 'isSecret'>): number {
  let count = 0;
  const isSecret = () => {
    count += 1;
    return false;
  };
  const rule = ruleOf({ ...pattern, triggers: ['abcd'], isSecret });
  const means = {
    known: new KnownSecrets([], { of: () => '' }),
    triggers: new TriggerSearch([rule]),
    marks: { of: () => '' },
  };
  const limits = { budget: new Budget(STREAM_LIMITS), effort: new Effort(() => 0) };
  new TextRedactor(means, limits).whole(Buffer.from(text));
  return count;
}

t.test('a match of more than 4096 characters is judged once', async (t) => {
  const find = /(?<secret>[a-z]+)/dy;
  const rows: readonly (readonly [text: string, count: number])[] = [
    ['abcd', 1],
    ['abcdabcd', 2],
    ['abcd'.repeat(1024), 1024],
    [`${'abcd'.repeat(1024)}x`, 1],
    [`${'abcd'.repeat(1024)}x abcd`, 2],
  ];
  for (const [text, count] of rows) t.equal(judged(text, { find }), count, `${text.length}`);
});

t.test('the text around a word is searched again only for a word near its end', async (t) => {
  const pattern = { find: /(?<secret>abcd)/dg, around: { before: 10, after: 100 } };
  const at = (...columns: number[]) =>
    columns.reduce((text, column) => `${text.padEnd(column)}abcd`, '').padEnd(200);
  const rows: readonly (readonly [text: string, count: number])[] = [
    [at(0), 1],
    [at(0, 49), 2],
    [at(0, 50), 3],
    [at(20, 69), 2],
    [at(20, 70), 3],
    [at(99), 1],
    [at(0, 100), 2],
    [`${at(0)}\n${at(0)}`, 2],
  ];
  for (const [text, count] of rows) t.equal(judged(text, pattern), count, JSON.stringify(text));
});

t.test('what is redacted already is not redacted again', async (t) => {
  for (const text of [
    "IDENTIFIED BY '<redacted:1a2b3c4d>'",
    'password: "<redacted:1a2b3c4d>" password=<redacted:1a2b3c4d>',
    '<password><redacted:1a2b3c4d></password>',
  ]) {
    t.equal(await safe(text, { marks: true }), text);
  }
});

t.test('rules of the same line do not disturb each other', async (t) => {
  await expectMarked(t, [
    'Bearer «abc123» https://me:«hunter22»@host password=«hunter22» Bearer «abc124»',
    `token «ghijkl.0123456789ghijkl»${' ab'.repeat(200)} token «ghijkl.0123456789ghijkl»`,
    'token words\ntoken «ghijkl.0123456789ghijkl»\ntoken «ghijkl.0123456789ghijkl»\n',
    `ghijkl.0123456789ghijkl\n${'words\n'.repeat(3)}token\n`,
    'kind: Secret\ndata:\n  a: «aGk=»\n---\nkind: Secret\ndata:\n  a: «aGk=»\n',
  ]);
});

t.test('a document that is one secret has the mark of that secret', async (t) => {
  const token = 'ghp_Zq8mK2vW4tYxR6nBAAAA';
  const markOf = async (text: string) =>
    (await safe(text, { marks: true })).match(/<redacted:\w+>/g)?.join(' ');
  const mark = await markOf(`got ${token} b`);
  t.match(mark, /^<redacted:\w{8}>$/);
  t.equal(await markOf(`got ${base64(token)} b`), mark);
  t.equal(await safe(`got ${base64(`${token}\n`)} b`, { marks: true }), `got ${mark} b`);
  t.equal(await markOf(`got ${base64(base64(token))} b`), mark);
  t.not(await markOf(`got ${base64(`a ${token}`)} b`), mark, 'other words are a part of it');
});

t.test('a key in base64 has one mark, however it is written', async (t) => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key = base64(privateKey.export({ type: 'sec1', format: 'der' }));
  t.ok(key.endsWith('='));
  const marks = async (text: string) =>
    (await safe(text, { marks: true })).match(/<redacted:\w+>/g);
  const plain = key.replace(/=+$/, '');
  t.equal(new Set(await marks(`a ${key} b\nc ${plain} d\n`)).size, 1, key);
  const { push, end, secrets } = recorded();
  const output = push(`a ${key} b`) + end();
  t.match(output, /^a <redacted:\d> b$/);
  t.equal(secrets.at(-1), plain);
});

t.test('what a stream may unpack', async (t) => {
  const budget = new Budget(STREAM_LIMITS);
  t.equal(budget.left, 8 * 1024 * 1024);
  budget.read(1000);
  t.equal(budget.left, 8 * 1024 * 1024 + 1000, 'as much as it has itself');
});

t.test(
  'a value that goes beyond what is looked at after a program, or after its second name',
  async (t) => {
    const path = '/very/long/path'.repeat(50);
    for (let length = 560; length < 600; length++) {
      const command = `ipmitool ${path.slice(0, length - 13)} -P hunter22-and-more b`;
      t.notMatch(await safe(command), /more/, `${length} characters`);
    }
    for (const gap of [10, 70, 150, 290]) {
      const twice = `ipmitool -H ${path.slice(0, 280)} ipmitool ${path.slice(0, gap)} -P hunter22 b`;
      t.notMatch(await safe(twice), /hunter22/, `${gap} characters after the second`);
    }
  },
);
