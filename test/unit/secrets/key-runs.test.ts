import t from 'tap';
import { framedRun, frameOf, isRest, longRun } from '../../../lib/secrets/redact/key-runs.ts';

const LONG = 'kK9/'.repeat(10);
const LONGER = 'kK9+'.repeat(11);

t.test('the longest run of base64 that is neither a digest, a path nor a word', (t) => {
  const rows: [text: string, run: string | undefined][] = [
    [LONG, LONG],
    [`log: ${LONG}== b`, `${LONG}==`],
    [LONG.slice(1), undefined],
    [`${LONG} ${LONGER}`, LONGER],
    [`${LONGER} ${LONG}`, LONGER],
    [`${LONG} ${'wW9/'.repeat(10)}`, LONG],
    [`${'0a'.repeat(32)} ${LONG}`, LONG],
    ['0aF9'.repeat(10), undefined],
    ['a/path/of/words/'.repeat(4), undefined],
    ['NAMES/OF/FOLDERS/'.repeat(4), undefined],
    ['KEYS'.repeat(10), undefined],
    ['KEY7'.repeat(10), 'KEY7'.repeat(10)],
  ];
  for (const [text, run] of rows) {
    const span = longRun(text);
    t.equal(span && text.slice(span.start, span.end), run, text);
  }
  t.end();
});

t.test('a run belongs to a key if the same text is around it', (t) => {
  // Each line has its run in `«»`: first one of the key, then others with the run that is found.
  const rows: [first: string, line: string][] = [
    ['«run»', '«Zq8=»'],
    ['«run»', ' Zq8'],
    ['«run»', 'Zq8 '],
    ['log: «run»', 'log: «Zq8»'],
    ['log: «run»', 'Log: «Zq8»'],
    ['log: «run»', 'logs: Zq8'],
    // In another column, where the six characters before are the same but for their numbers.
    ['a=12 b="«run»"', 'a=1 b="«Zq8»"'],
    ['[x]="=: «run»', 'yy[x]="=: «Zq8»'],
    ['[x]="=: «run»', 'yy[x]@=: Zq8'],
    ['x[]=": «run»', 'yyy[]=": «Zq8»'],
    // Of what follows, six characters are compared: 16 are read, and each number counts as one.
    ['«run»", "abc', '«Zq8»", "abd'],
    ['«run»", "ab', 'Zq8", "ac'],
    ['«run»" n=12345678901.', '«Zq8»" n=1.'],
    ['«run»" n=123456789012.', 'Zq8" n=1.'],
    ['12345678901] "«run»', '1] "«Zq8»'],
    ['«run»"', 'Zq8'],
    ['«run»', 'Zq8"'],
  ];
  for (const [first, line] of rows) {
    const [start, end] = [first.indexOf('«'), first.indexOf('»') - 1];
    const frame = frameOf(first.replace(/[«»]/g, ''), start, end);
    const text = line.replace(/[«»]/g, '');
    const run = framedRun(text, frame);
    const shown = run && `${text.slice(0, run.start)}«${text.slice(run.start, run.end)}»`;
    t.equal(shown === undefined ? text : shown + text.slice(run?.end), line, `${first} ${line}`);
  }
  t.end();
});

t.test('the last line of a key, rather than a word', (t) => {
  for (const run of ['Zq8=', 'dDd0ZQ==', 'kkkK', 'ab1c', 'k/zz', LONG.slice(4)]) {
    t.ok(isRest(run), run);
  }
  for (const run of ['word', 'Word', '1234', 'Zq8', 'Zq8mK', LONG]) t.notOk(isRest(run), run);
  t.end();
});
