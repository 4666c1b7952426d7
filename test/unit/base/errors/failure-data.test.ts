import { ExecaError, execaSync } from 'execa';
import t from 'tap';
import { describeError, Failure } from '../../../../lib/base/errors/failure.ts';
import {
  failureData,
  failureDataSchema,
  failureFromData,
  failureSentence,
  withinFailure,
} from '../../../../lib/base/errors/failure-data.ts';
import { rpcFailure } from '../../../../lib/clients/grpc/failure.ts';
import { KubeError } from '../../../../lib/clients/kube/kube-error.ts';
import { run } from '../../../../lib/host/command.ts';

const part = new Failure('retry', 'dns-api failed', {
  code: 'dns-record-missing',
  subject: 'api.example.test',
  fix: 'Add it.',
});

t.test('a failure as data has its code, words, parts and causes', async (t) => {
  const cause = new Error('connect', { cause: new Error('ECONNREFUSED 127.0.0.1:2379') });
  const failure = new Failure('deadline', 'etcd has no leader', {
    code: 'rpc-failed',
    expected: 'a leader',
    found: 'none',
    fix: 'Look at etcd.',
    parts: [part],
    cause,
  });
  t.strictSame(failureData(failure), {
    code: 'rpc-failed',
    kind: 'deadline',
    what: 'etcd has no leader',
    expected: 'a leader',
    found: 'none',
    fix: 'Look at etcd.',
    parts: [
      {
        code: 'dns-record-missing',
        kind: 'retry',
        what: 'dns-api failed',
        subject: 'api.example.test',
        fix: 'Add it.',
      },
    ],
    cause: {
      code: 'error',
      kind: 'retry',
      what: 'connect',
      cause: { code: 'error', kind: 'retry', what: 'ECONNREFUSED 127.0.0.1:2379' },
    },
  });
});

t.test('data survives a journal unchanged', async (t) => {
  const table = [
    new Failure('fatal', 'no', { fix: 'Go.', cause: new Error('why') }),
    new Failure('retry', 'busy', { found: 'a because b', cause: new Error('b') }),
    new Failure('retry', 'told: why', { cause: new Error('unsaid'), tellsCause: true }),
    new Failure('fatal', 'two', { parts: [part, part] }),
    new TypeError('x is no function'),
    new KubeError('rejected', 'GET /x: 403 no'),
  ];
  for (const thrown of table) {
    const data = failureData(thrown);
    t.strictSame(failureDataSchema.parse(JSON.parse(JSON.stringify(data))), data);
    const { stack: _stack, ...rest } = failureData(failureFromData(data));
    const { stack: _first, ...first } = data;
    t.match(rest, first, 'nothing is lost when it is read again');
    if (thrown instanceof Failure) t.equal(failureSentence(data), describeError(thrown));
  }
});

t.test('no cause is dropped or repeated', async (t) => {
  const grpc = Object.assign(new Error('14 UNAVAILABLE: no connection'), {
    code: 14,
    details: 'no connection',
  });
  const rpc = rpcFailure('etcd', 'Status', grpc);
  t.match(rpc, { kind: 'retry', code: 'rpc-failed', status: 14, cause: grpc });
  t.equal(describeError(rpc), 'etcd: Status failed: no connection');

  const options = { signal: AbortSignal.timeout(60_000), deadlineMs: 60_000 };
  const command = await run('false', [], options).catch((error: unknown) => error);
  t.match(command, { code: 'command-failed', cause: ExecaError });
  t.match(describeError(command), /^command "false" failed; found exit code 1 after [\d.]+s$/);
  t.match(failureData(command), { cause: { what: /exit code 1/ }, tellsCause: true });
  t.match(failureData(new KubeError('busy', 'GET /: 429')), { code: 'api-error', kind: 'retry' });
});

t.test('secrets are in no field, and circular and endless chains do no harm', async (t) => {
  const secret = 'https://me:hunter2@host/x';
  const details = { subject: secret, expected: secret, found: secret, fix: secret };
  const data = failureData(
    new Failure('bug', secret, { ...details, parts: [new Failure('retry', secret, details)] }),
  );
  t.notMatch(JSON.stringify(data), /hunter2/);
  t.match(data, { subject: 'https://me:<redacted>@host/x' });
  const thrown = execaSync('sh', ['-c', 'exit 3', secret], { reject: false });
  t.notMatch(JSON.stringify(failureData(thrown)), /hunter2/);

  const circle = new Error('round');
  circle.cause = circle;
  t.equal([...withinFailure(failureData(circle))].length, 6);
  let deep = new Error('0');
  for (let level = 1; level < 1000; level++) deep = new Error(String(level), { cause: deep });
  t.same(
    [...withinFailure(failureData(deep))].map(({ what }) => what.slice(0, 3)),
    ['999', '999', '998', '997', '996', '995'],
    'six levels',
  );
  let nested = new Failure('retry', '0');
  for (let level = 1; level < 100; level++) {
    const parts = [new Failure('retry', `part ${level}`, { cause: nested })];
    nested = new Failure('retry', String(level), { parts });
  }
  t.same(
    [...withinFailure(failureData(nested))].map(({ what }) => what),
    ['99', 'part 99', '98', 'part 98', '97', 'part 97'],
    'a part is one level deeper',
  );
});

t.test('the contents of a failure: itself, its causes, its parts', (t) => {
  const cause = new Failure('retry', 'why', { cause: new Error('first') });
  const data = failureData(new Failure('fatal', 'no', { cause, parts: [part] }));
  t.strictSame(
    [...withinFailure(data)].map(({ what }) => what),
    ['no', 'why', 'first', 'dns-api failed'],
  );
  t.end();
});
