import { AssertionError } from 'node:assert';
import t from 'tap';
import { Failure } from '../../../../lib/base/errors/failure.ts';
import { asFailure, codeOf, isBug } from '../../../../lib/base/errors/unexpected.ts';

const worded = (failureCode: unknown) => Object.assign(new Error('refused'), { failureCode });

t.test('any thrown value becomes a failure of some kind', async (t) => {
  const failure = new Failure('fatal', 'no', { code: 'disk-in-use' });
  t.equal(asFailure(failure), failure, 'one stays as it is');
  const reported = { fix: /please report it/, tellsCause: true };
  const table: [thrown: unknown, kind: string, code: string, what: string, details: object][] = [
    [new TypeError('x is none'), 'bug', 'bug', 'internal error: x is none', reported],
    [new RangeError('r'), 'bug', 'bug', 'internal error: r', reported],
    [new ReferenceError('r'), 'bug', 'bug', 'internal error: r', reported],
    [new AssertionError({ message: 'a' }), 'bug', 'bug', 'internal error: a', reported],
    [new TypeError('fetch failed'), 'retry', 'error', 'fetch failed', { fix: undefined }],
    [new RangeError('fetch failed'), 'bug', 'bug', 'internal error: fetch failed', reported],
    [new SyntaxError('data'), 'retry', 'error', 'data', { tellsCause: true }],
    [worded('api-error'), 'retry', 'api-error', 'refused', { tellsCause: true }],
    [worded('no-such-code'), 'retry', 'error', 'refused', {}],
    [worded('toString'), 'retry', 'error', 'refused', {}],
    [worded(5), 'retry', 'error', 'refused', {}],
    ['a mere word', 'retry', 'error', 'a mere word', {}],
    [null, 'retry', 'error', 'null', {}],
  ];
  for (const [thrown, kind, code, what, details] of table) {
    const made = asFailure(thrown);
    t.match(made, { kind, code, what, details }, what);
    t.equal(made.cause, thrown);
    t.equal(codeOf(thrown), code, 'the code alone');
    t.equal(isBug(thrown), kind === 'bug');
  }
  t.equal(codeOf(failure), 'disk-in-use');
});
