import t from 'tap';
import { isProse, positionOf } from '../../../lib/secrets/redact/prose.ts';

const blanks = (count: number) => ' '.repeat(count);

t.test('where in its line a name stands', async (t) => {
  const rows: readonly (readonly [before: string, expected: string])[] = [
    ['', 'first'],
    ['  \t', 'first'],
    [blanks(200), 'first'],
    [blanks(201), 'elsewhere'],
    ['got ', 'elsewhere'],
    // Marks, comments and keywords, two at most.
    ['- ', 'first'],
    ['+ ', 'first'],
    ['> ', 'first'],
    ['* ', 'first'],
    ['; ', 'first'],
    ['## ', 'first'],
    ['  - # ', 'first'],
    ['- # - ', 'elsewhere'],
    ['#### ', 'elsewhere'],
    ['-', 'elsewhere'],
    ['export ', 'first'],
    ['# export ', 'first'],
    ['set ', 'first'],
    ['setenv ', 'first'],
    ['local ', 'first'],
    ['declare ', 'first'],
    ['declare -x ', 'first'],
    ['readonly ', 'first'],
    ['ENV ', 'first'],
    ['ARG ', 'first'],
    ['env ', 'elsewhere'],
    // A table, a terminal's colour.
    ['| ', 'first'],
    ['  | ', 'first'],
    ['\xe2\x94\x82 ', 'first'],
    ['a | ', 'elsewhere'],
    ['\x1b[1m', 'first'],
    ['\\u001b[1;36m', 'first'],
    ['a \x1b[1m', 'elsewhere'],
    // What a journal, a runtime, klog or syslog writes before the message.
    ['Nov 22 10:00:00 sno-0 app[1]: ', 'first'],
    ['Nov  2 10:00:00 sno-0 app: ', 'first'],
    ['2026-11-22T10:00:00.1Z sno-0 app: ', 'first'],
    ['2026-11-22 10:00:00 sno-0 app: - ', 'first'],
    ['Nov 22 10:00:00 sno-0 an app: ', 'elsewhere'],
    ['on Nov 22 10:00:00 sno-0 app: ', 'elsewhere'],
    ['2026-11-22T10:00:00.1Z stderr F ', 'first'],
    ['2026-11-22T10:00:00.1Z stdout P   ', 'first'],
    ['2026-11-22T10:00:00.1Z stdout X ', 'elsewhere'],
    ['I1122 10:00:00.000000 1 x.go:1] ', 'first'],
    ['x.go:1]', 'elsewhere'],
    ['app: ', 'elsewhere'],
    // After the NUL that ends a variable of /proc.
    ['A=b\0', 'first'],
    ['A=b\0 export ', 'first'],
    [`${'x'.repeat(600)}\0`, 'first'],
    [`${'x'.repeat(600)}\0 `, 'elsewhere'],
    // A longer prefix is not examined.
    [`${'x'.repeat(509)}]: `, 'first'],
    [`${'x'.repeat(510)}]: `, 'elsewhere'],
    // In a quoted text.
    ['"', 'in "'],
    ['x="', 'in "'],
    ["x='", "in '"],
    ['x=`', 'in `'],
    ['x=\\"', 'in "'],
    ['x="\\t  ', 'in "'],
    ['x="\t', 'in "'],
    ['x="\v\f\r\xa0', 'in "'],
    ['x="\r', 'in "'],
    ['x="\x08', 'elsewhere'],
    ['x="\x0e', 'elsewhere'],
    ['x="- ', 'in "'],
    ['x="# ', 'in "'],
    ['x="export ', 'in "'],
    ['x="set ', 'elsewhere'],
    ['x="a', 'elsewhere'],
    ['x="a\\n', 'in "'],
    ['x="a\\\\r  - ', 'in "'],
    ['x="a\\k', 'elsewhere'],
    [`x="${blanks(80)}`, 'in "'],
    [`x="${blanks(81)}`, 'elsewhere'],
    [`x="${'\\t'.repeat(59)}`, 'in "'],
    [`x="${'\\t'.repeat(60)}`, 'elsewhere'],
  ];
  for (const [before, expected] of rows) {
    const position = positionOf(`${before}password`, before.length);
    const found = typeof position === 'string' ? position : `in ${position.quote}`;
    t.equal(found, expected, JSON.stringify(before));
  }
  t.equal(positionOf('a password "', 2), 'elsewhere', 'what follows the name does not matter');
});

t.test('whether a value is the first word of a sentence', async (t) => {
  // The value is between brackets.
  const rows: readonly (readonly [line: string, expected: boolean])[] = [
    ['password: [must be long]', true],
    ['password: [must] be long', true],
    ['password: [Must] be long', true],
    ['password: [AUTHENTICATION] failed', true],
    ['password: [must]', false],
    ['password: [must], be', false],
    ['password: [must]\tbe', false],
    ['password: [must\tbe]', true],
    ['password: [mustard] is', false],
    ['password: [must-be] long', false],
    ['password: [must1] be', false],
    ['password: [a] b', true],
    ['password: [authenticationfailed] b', false],
    ['password: [] must be', false],
    ['password: [hunter must] be', false],
  ];
  for (const [marked, expected] of rows) {
    const start = marked.indexOf('[');
    const end = marked.indexOf(']') - 1;
    t.equal(isProse(marked.replace(/[[\]]/g, ''), { start, end }), expected, marked);
  }
});
