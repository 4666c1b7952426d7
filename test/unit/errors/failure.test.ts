import t from 'tap';
import { EXIT, exitCodeFor } from '../../../lib/errors/exit-codes.ts';
import { describeError, Failure } from '../../../lib/errors/failure.ts';
import { fingerprint } from '../../../lib/steps/fingerprint.ts';

t.test('a failure is a sentence of what, expected, found and fix', async (t) => {
  const table: [object, string][] = [
    [{}, 'disk'],
    [{ expected: 'one' }, 'disk; expected one'],
    [{ found: 'two' }, 'disk; found two'],
    [{ expected: 'one', found: 'two', fix: 'Wipe it.' }, 'disk; expected one; found two. Wipe it.'],
  ];
  for (const [details, message] of table) {
    t.equal(new Failure('fatal', 'disk', details).message, message);
  }
  t.equal(String(new Failure('fatal', 'disk')), 'Failure: disk', 'as a stack names it');
});

t.test('exit codes', async (t) => {
  t.strictSame(EXIT, { done: 0, retryable: 1, usage: 2, deadline: 3, fatal: 4 });
  t.equal(exitCodeFor(new Failure('retry', '')), 1);
  t.equal(exitCodeFor(new Failure('usage', '')), 2);
  t.equal(exitCodeFor(new Failure('deadline', '')), 3);
  t.equal(exitCodeFor(new Failure('fatal', '')), 4);
  t.equal(exitCodeFor(new Failure('bug', '')), 4);
  t.equal(exitCodeFor(new TypeError('x is not a function')), 4);
  t.equal(exitCodeFor(new TypeError('fetch failed', { cause: new Error('ECONNREFUSED') })), 1);
  t.equal(exitCodeFor(new SyntaxError('Unexpected token')), 1, 'data, not the program');
  t.equal(exitCodeFor(new Error('any')), 1);
  t.equal(exitCodeFor('thrown text'), 1);
  t.equal(exitCodeFor(undefined), 1);
});

t.test('errors are described with their causes, each once, without secrets', async (t) => {
  const circular = new Error('round');
  circular.cause = circular;
  const refused = new AggregateError([new Error('refused ::1'), new Error('refused 127.0.0.1')]);
  const table: [unknown, string][] = [
    [new Error('a', { cause: new Error('b', { cause: 'c' }) }), 'a: b: c'],
    [new Error('a because b', { cause: new Error('b') }), 'a because b'],
    [circular, 'round'],
    [
      new TypeError('fetch failed', { cause: refused }),
      'fetch failed: refused ::1, refused 127.0.0.1',
    ],
    [new RangeError(), 'RangeError'],
    ['text', 'text'],
    [null, 'null'],
    [new Error('get https://me:hunter2@host/x'), 'get https://me:<redacted>@host/x'],
  ];
  for (const [error, text] of table) t.equal(describeError(error), text);
});

t.test('a fingerprint is of the data, not of its writing', async (t) => {
  t.equal(
    fingerprint({ a: 1, b: { c: [1, 2], d: 3 } }),
    fingerprint({ b: { d: 3, c: [1, 2] }, a: 1 }),
  );
  const all = [undefined, '', 0, [], {}, [1, 2], [2, 1], { a: 1 }, { a: '1' }].map(fingerprint);
  t.equal(new Set(all).size, all.length, 'different data, different fingerprints');
  for (const print of all) t.match(print, /^[0-9a-f]{16}$/);
});
