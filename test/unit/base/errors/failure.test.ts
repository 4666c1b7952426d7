import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { z } from 'zod';
import { EXIT, exitCodeFor } from '../../../../lib/base/errors/exit-codes.ts';
import { describeError, FAILURE_KINDS, Failure } from '../../../../lib/base/errors/failure.ts';
import { jsonFaults } from '../../../../lib/base/errors/schema-faults.ts';
import { fingerprint } from '../../../../lib/engine/steps/fingerprint.ts';
import { sha256 } from '../../../../lib/host/files.ts';

t.test('a failure is printed as what, expected, found and fix', async (t) => {
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

t.test('what a schema finds wrong is one line that names the fields', async (t) => {
  const schema = z.object({ spec: z.array(z.object({ size: z.number() })) });
  const { error } = schema.safeParse({ spec: [{ size: 'large' }, {}] });
  const line = describeError(new Error('the answer is wrong', { cause: error }));
  t.equal(
    line,
    'the answer is wrong: spec[0].size: expected a number, found a text; spec[1].size: expected a number, found nothing',
  );
  const many = schema.safeParse({ spec: Array(1000).fill({}) });
  t.equal(describeError(many.error).length, 400);
});

t.test('what a schema finds wrong is said in words of people, without the value', async (t) => {
  const kind = z.literal('Update');
  const rows: readonly (readonly [schema: z.ZodType, value: unknown, words: string])[] = [
    [z.string(), undefined, 'expected a text, found nothing'],
    [z.string(), null, 'expected a text, found nothing'],
    [z.number(), 'hunter2', 'expected a number, found a text'],
    [z.number().int(), 1.5, 'expected a whole number, found another number'],
    [z.boolean(), ['hunter2'], 'expected true or false, found a list'],
    [z.array(z.string()), {}, 'expected a list, found a mapping'],
    [z.object({}), '', 'expected a mapping, found a text'],
    [z.record(z.string(), z.string()), [], 'expected a mapping, found a list'],
    [kind, undefined, 'expected "Update"'],
    [kind, 'hunter2', 'expected "Update"'],
    [z.enum(['a', 'b', 'c']), 7, 'expected "a", "b" or "c"'],
    [z.literal([1, 2]), 3, 'expected 1 or 2'],
    [z.number().positive(), -5, 'expected a number, more than 0'],
    [z.number().max(9), 10, 'expected a number, at most 9'],
    [z.string().min(2), 'x', 'expected a text of at least 2 characters'],
    [z.array(z.string()).max(1), ['a', 'b'], 'expected a list of at most 1 entries'],
    [z.string().regex(/^a$/), 'hunter2', 'expected a text of the form /^a$/'],
    [z.string().startsWith('x'), 'y', 'expected a text that begins with "x"'],
    [z.string().endsWith('x'), 'y', 'expected a text that ends with "x"'],
    [z.iso.datetime(), 'x', 'expected a time such as 2027-01-31T00:00:00Z'],
    [z.uuid(), 'x', 'expected a UUID'],
    [z.ipv4(), 'x', 'expected a text of the form ipv4'],
    [z.strictObject({}), { a: 1, b: 2 }, 'unknown field "a", "b"'],
    [z.union([z.string(), z.number()]), [1], 'expected a text or a number'],
    [
      z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]),
      {},
      'expected another value',
    ],
    [
      z.discriminatedUnion('is', [
        z.object({ is: z.literal('a') }),
        z.object({ is: z.literal('b') }),
      ]),
      {},
      'is: expected "a" or "b"',
    ],
    [z.map(z.string(), z.string()), 'x', 'expected map, found a text'],
    [z.number().multipleOf(5), 7, 'expected another value'],
    [z.string('is its own'), 7, 'is its own'],
  ];
  for (const [schema, value, words] of rows) {
    t.equal(describeError(schema.safeParse(value).error), words);
  }
});

t.test('of a file that is no JSON, what keeps it from being JSON', async (t) => {
  const faults = (text: string, value: unknown) => {
    const { error } = z.object({ a: z.string() }).safeParse(value);
    return error && jsonFaults(text, error);
  };
  t.equal(faults('{"a": "hunter2"', undefined), 'no JSON: a missing } at character 16');
  t.equal(faults('{}', {}), 'a: expected a text, found nothing');
});

t.test('a time limit that was reached is told in plain words', async (t) => {
  const { signal } = new AbortController();
  const late = AbortSignal.any([signal, AbortSignal.timeout(1)]);
  while (!late.aborted) await sleep(1);
  t.equal(describeError(late.reason), 'it took longer than it may');
  t.equal(
    describeError(new Error('no answer', { cause: late.reason })),
    'no answer: it took longer than it may',
  );
});

t.test('a long chain of causes is truncated', async (t) => {
  let error = new Error('9');
  for (let level = 8; level >= 0; level--) error = new Error(String(level), { cause: error });
  t.equal(describeError(error), '0: 1: 2: 3: 4: 5');
});

t.test('a cause already in the sentence is not repeated', async (t) => {
  const cause = new Error('why');
  t.equal(describeError(new Failure('retry', 'no', { cause })), 'no: why');
  t.equal(describeError(new Failure('retry', 'no', { cause, tellsCause: true })), 'no');
  t.equal(describeError(new AggregateError([cause, cause, 'x'])), 'why, x');
  t.equal(describeError(new AggregateError([cause], 'all failed')), 'all failed');
});

t.test('a failure has a code, that of its kind if no other is given', async (t) => {
  const codes = FAILURE_KINDS.map((kind) => [kind, new Failure(kind, '').code]);
  t.same(Object.fromEntries(codes), {
    retry: 'unavailable',
    usage: 'usage',
    deadline: 'deadline',
    fatal: 'refused',
    bug: 'bug',
  });
  const cause = new Error('why');
  const failure = new Failure('fatal', 'no', { code: 'disk-in-use', cause });
  t.match(failure, { name: 'Failure', kind: 'fatal', code: 'disk-in-use', what: 'no', cause });
  t.notOk('cause' in new Failure('fatal', 'no'));
});

t.test('a fingerprint depends on the data, not on its notation', async (t) => {
  t.equal(fingerprint({ b: [2, 1], a: 'x' }), sha256('{"a":"x","b":[2,1]}').slice(0, 16));
  t.equal(fingerprint(undefined), fingerprint(null));
  t.equal(
    fingerprint({ a: 1, b: { c: [1, 2], d: 3 } }),
    fingerprint({ b: { d: 3, c: [1, 2] }, a: 1 }),
  );
  const all = [undefined, '', 0, [], {}, [1, 2], [2, 1], { a: 1 }, { a: '1' }].map(fingerprint);
  t.equal(new Set(all).size, all.length, 'different data, different fingerprints');
  for (const print of all) t.match(print, /^[0-9a-f]{16}$/);
});
