import t from 'tap';
import { inOneLine, printable, printableLines } from '../../../lib/base/printable.ts';

/** What a terminal or a viewer would interpret or not show, and how it is written. */
const CASES: readonly (readonly [title: string, text: string, written: string])[] = [
  ['a colour', '\u001b[31mred', '\\u001b[31mred'],
  ['the title of a terminal', '\u001b]0;x\u0007', '\\u001b]0;x\\u0007'],
  ['a control sequence of one character', '\u009b31m', '\\u009b31m'],
  ['back to the start of the line', 'a\rb', 'a\\u000db'],
  ['backspace and delete', 'a\b\u007f', 'a\\u0008\\u007f'],
  ['a zero byte', '\0', '\\u0000'],
  ['a vertical tab and a new page', '\v\f', '\\u000b\\u000c'],
  ['the next line of ISO 6429', '\u0085', '\\u0085'],
  ['the separators of Unicode', '\u2028\u2029', '\\u2028\\u2029'],
  ['another order of reading', '\u202etxt.exe\u2066', '\\u202etxt.exe\\u2066'],
  ['nothing that is seen', 'a\u200bb\u00adc\ufeff', 'a\\u200bb\\u00adc\\ufeff'],
  ['what looks like a blank', 'a\u00a0b\u3000c d', 'a\\u00a0b\\u3000c d'],
  ['a tag of Unicode', '\u{e0041}', '\\udb40\\udc41'],
  ['half of a pair', 'a\ud800b', 'a\\ud800b'],
  ['an emoji, and letters of any script', '\u{1f600} äß 漢字 עברית', '\u{1f600} äß 漢字 עברית'],
  ['a backslash', 'C:\\x', 'C:\\x'],
];

t.test('whatever is not shown as it is gets an escape', async (t) => {
  for (const [title, text, written] of CASES) {
    t.equal(printable(text), written, title);
    t.equal(printableLines(text), written, title);
  }
  t.equal(printable('a\nb\tc'), 'a\\u000ab\\u0009c');
  t.equal(printableLines('a\r\nb\tc\n'), 'a\nb\tc\n');
});

t.test('JSON stays the same JSON', async (t) => {
  const value = CASES.map(([, text]) => text);
  const text = JSON.stringify(value, null, 2);
  t.same(JSON.parse(printableLines(text)), value);
  t.notMatch(printableLines(text), /[\u0080-\u009f\u202e\u2028]/);
});

t.test('lines become one', async (t) => {
  t.equal(inOneLine(' a \r\n\n  b\nc\n'), 'a | b | c');
  t.equal(inOneLine('one\u2028two\u0085three'), 'one\\u2028two\\u0085three');
  t.equal(inOneLine(''), '');
});
