import t from 'tap';
import { base64Groups, MAX_GROUP_BYTES } from '../../../lib/secrets/redact/base64-runs.ts';

const A = 'aaaa/aaaa+aaaaAAAA0000zz';
const B = 'bbbb/bbbb+bbbbBBBB1111zz';
const SHORT = 'cC1=';

/** The runs of each text, and from where on it is open. */
function groupsIn(text: string) {
  return base64Groups(Buffer.from(text)).map(({ runs, openFrom }) => {
    const texts = runs.map(({ start, end }) => text.slice(start, end));
    return openFrom === undefined ? texts : [...texts, { open: text.slice(openFrom) }];
  });
}

t.test('texts in base64, in one run or wrapped', (t) => {
  const rows: [text: string, groups: ReturnType<typeof groupsIn>][] = [
    [`got ${A} b`, [[A]]],
    [`got ${A}== b ${B}=== b`, [[`${A}==`], [`${B}==`]]],
    [`got ${A.slice(1)} b`, []],
    [`got ${'0a'.repeat(32)} b`, []],
    [`got ${'0a'.repeat(32)}z b`, [[`${'0a'.repeat(32)}z`]]],
    [`got 3b241101-e2bb-4255-8caf-4136c566a962 b`, []],
    [`got 3b241101-e2bb-4255-8caf-4136c566a96z b`, [['3b241101-e2bb-4255-8caf-4136c566a96z']]],
    // The letter of an escaped newline.
    [`\\n${A} b`, [[A]]],
    [`a\\t${A} b`, [[A]]],
    [`x${A} b`, [[`x${A}`]]],
    [`n${A} b`, [[`n${A}`]]],
    [`n\\w${A} b`, [[`w${A}`]]],
    // Over escaped newlines; a real one ends it.
    [`"${A}\\n${B}\\\\n${SHORT}" b`, [[A, B, SHORT]]],
    [`"${A}\\n" b`, [[A]]],
    [`"k: |\\n  ${A}\\n  ${B}\\n" b`, [[A, B]]],
    [`${A}\\n${A}\n${B}\nb c\n`, [[A, A], [B]]],
    // Over lines in one column, each of which ends with a run.
    [`${A}\n${B}\n${SHORT}\nb c\n`, [[A, B, SHORT]]],
    [`${A}\r\n${B}\r\n${SHORT}\r\nb c\n`, [[A, B, SHORT]]],
    [`log: ${A}\nlog: ${B}\nlog: ${SHORT} b\n`, [[A, B]]],
    [`log: ${A}\nlog: ${B}\nlog: ${SHORT}\nlog: b c\n`, [[A, B, SHORT]]],
    [`log: ${A}\nlog:  ${B}\nb\n`, [[A], [B]]],
    [`log: ${A}\nlogx=${B}\nb c\n`, [[A, B]]],
    [`log: ${A}\nlog:x${B}\nb c\n`, [[A], [`x${B}`]]],
    [`  ${A}\n\n ${B}\nb c\n`, [[A], [B]]],
    [`   ${A}\nb\n ${B}\nb c\n`, [[A], [B]]],
    [`${A}\n${B} b\n`, [[A], [B]]],
    [`${A} b\n${B}\nb c\n`, [[A], [B]]],
    ['no text\n', []],
  ];
  for (const [text, groups] of rows) t.strictSame(groupsIn(text), groups, JSON.stringify(text));
  t.end();
});

t.test('a text at the end of the bytes can have more lines', (t) => {
  const head = 'two words\n';
  for (const [end, isOpen] of [
    ['', true],
    ['\n', true],
    ['\r', true],
    ['\r\n', true],
    ['\n ', false],
    ['\n\n', false],
    ['\r\n ', false],
    ['\nb c\n', false],
  ] as const) {
    const own = `log: ${A}\nlog: ${B}${end}`;
    const expected = isOpen ? [A, B, { open: own }] : [A, B];
    t.strictSame(groupsIn(head + own), [expected], JSON.stringify(end));
  }
  t.strictSame(groupsIn(`${A}\n`), [[A, { open: `${A}\n` }]]);
  t.end();
});

t.test('a text of more than 256 KiB is divided', (t) => {
  const line = `${'a'.repeat(62)}z`;
  // The first line is longer by one character, and the last one has no newline.
  const lines = (last: string) => `z${`${line}\n`.repeat(4095)}${last}`;
  const runs = (text: string) => base64Groups(Buffer.from(text)).map((group) => group.runs.length);
  t.equal(lines(line).length, MAX_GROUP_BYTES);
  t.equal(MAX_GROUP_BYTES, 256 * 1024);
  t.strictSame(runs(lines(line)), [4096]);
  t.strictSame(runs(lines(`${line}a`)), [4095, 1]);
  t.strictSame(runs(`${'two words '.repeat(30_000)}\n${line}\n${line}\n`), [2]);
  const [first] = base64Groups(Buffer.from(lines(`${line}a`)));
  t.equal(first?.openFrom, undefined);
  t.end();
});
