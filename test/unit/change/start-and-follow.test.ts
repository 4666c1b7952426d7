import { mock } from 'node:test';
import t, { type Test } from 'tap';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { failureData } from '../../../lib/base/errors/failure-data.ts';
import { type Begun, startAndFollow } from '../../../lib/change/start-and-follow.ts';
import type { AgentStatus } from '../../../lib/engine/steps/status.ts';
import { testHost } from '../agents/host/host.ts';
import { thrownBy } from '../base/errors/thrown-by.ts';
import { stopClock } from '../clients/kube/stopped-clock.ts';

const STATUS = '/run/sno-agents/sno-identity/status.json';
const RESULT = '/result.json';
const NOW = '2030-01-01T00:00:00.000Z';
const FUTURE = '2999-01-01T00:00:00Z';
const SEEN = '/seen';

interface Ended {
  readonly id: string;
}

const statusOf = (more: Partial<AgentStatus>): string =>
  JSON.stringify({
    ...{ schemaVersion: 1, version: '1', agent: 'sno-identity', unit: 'sno-identity' },
    ...{ state: 'running', updated: FUTURE },
    ...more,
  });
const stepOf = (waitingFor?: string) => ({
  ...{ name: 'hold', number: 2, of: 9, attempt: 1, since: FUTURE, until: FUTURE },
  ...(waitingFor === undefined ? {} : { waitingFor }),
});

/** A host whose unit does what `script` says, and a person who asks for a change. */
function asking(t: Test, script: string) {
  const host = testHost(t);
  host.programs.give('systemctl', `[ "$1" = start ] || exit 0; cd "$ROOT"; ${script}`);
  const change = {
    status: 'sno-identity status',
    last: async (): Promise<Ended | undefined> =>
      host.has(RESULT) ? JSON.parse(host.read(RESULT)) : undefined,
  };
  const printed: string[] = [];
  const ask = (more: Partial<Begun<Ended>> = {}, seen: (text: string) => void = () => {}) =>
    startAndFollow(
      change,
      host.paths,
      {
        ...{ agent: 'sno-identity', what: 'the change', isWaited: true },
        isIts: ({ id }: Ended) => id === 'mine',
        ...more,
      },
      (text) => {
        printed.push(text);
        seen(text);
      },
    );
  return { host, printed, ask };
}

t.test('each step is printed once, until the unit has ended', async (t) => {
  const untilSeen = `while [ ! -e .${SEEN} ]; do sleep 0.05; done`;
  const { host, printed, ask } = asking(t, `${untilSeen}; echo '{"id":"mine"}' > .${RESULT}`);
  host.write(RESULT, '{"id":"earlier"}');
  host.write(STATUS, statusOf({ step: stepOf() }));
  const ended = await ask({}, (text) => {
    if (text === 'Step 2 of 9: hold\n') host.write(STATUS, statusOf({ step: stepOf('etcd') }));
    if (text === 'Step 2 of 9: hold, waiting for etcd\n') host.write(SEEN);
  });
  t.strictSame(ended, { id: 'mine' });
  t.strictSame(printed, [
    'It also continues without this command. "sno-identity status" prints its state.\n',
    'Step 2 of 9: hold\n',
    'Step 2 of 9: hold, waiting for etcd\n',
  ]);
  t.strictSame(host.programs.calls('systemctl start'), ['systemctl start sno-identity.service']);
});

t.test('the end of a unit that said nothing is noticed at once, and not before', async (t) => {
  stopClock(t);
  const { ask } = asking(t, `sleep 0.2; echo '{"id":"mine"}' > .${RESULT}`);
  t.strictSame(await ask(), { id: 'mine' });
});

t.test('nobody has to wait', async (t) => {
  const { host, printed, ask } = asking(t, 'exit 0');
  t.equal(await ask({ isWaited: false }), undefined);
  t.strictSame(host.programs.calls(), ['systemctl start --no-block sno-identity.service']);
  t.equal(printed.length, 1);
  host.programs.give('systemctl', 'exit 1');
  t.match(await thrownBy(ask({ isWaited: false })), { kind: 'retry' }, 'systemd refuses');
});

const FAILED = failureData(new Failure('deadline', 'the API is not ready', { code: 'disk-full' }));
for (const [what, status, kind] of [
  ['without a word', undefined, 'retry'],
  ['stopped', statusOf({ state: 'stopped' }), 'retry'],
  ['failed', statusOf({ state: 'failed', failure: FAILED }), 'deadline'],
  [
    'failed before this request',
    statusOf({ state: 'failed', failure: FAILED, updated: '2020-01-01T00:00:00Z' }),
    'retry',
  ],
  [
    'failed in the millisecond of this request',
    statusOf({ state: 'failed', failure: FAILED, updated: NOW }),
    'deadline',
  ],
] as const) {
  t.test(`one that has not ended: ${what}`, async (t) => {
    mock.timers.enable({ apis: ['Date'], now: Date.parse(NOW) });
    t.teardown(() => mock.timers.reset());
    const { host, ask } = asking(t, 'exit 1');
    host.write(RESULT, '{"id":"earlier"}');
    if (status !== undefined) host.write(STATUS, status);
    const message =
      /^the change has not ended\. See "sno-identity status"\. Run "systemctl start sno-identity\.service"/;
    const error = await thrownBy(ask());
    t.match(error, { kind, message });
    const failed = { code: 'disk-full', cause: { what: 'the API is not ready' } };
    t.match(error, kind === 'deadline' ? failed : {});
  });
}

t.test('one that is continued has the failure of its earlier attempt', async (t) => {
  const { host, ask } = asking(t, 'exit 1');
  const updated = '2020-01-01T00:00:00Z';
  host.write(STATUS, statusOf({ state: 'failed', failure: FAILED, updated }));
  t.match(await thrownBy(ask({ isContinued: true })), { kind: 'deadline' });
});

t.test('a unit that does not end with its start is followed by its status', async (t) => {
  const clock = stopClock(t);
  const { host, printed, ask } = asking(t, 'exit 0');
  const retried = failureData(new Failure('retry', 'the API does not answer'));
  host.write(STATUS, statusOf({}));
  const ended = await ask({}, (text) => {
    // It looks again when the start has ended, and then each second.
    if (text === 'Starting\n') return host.write(STATUS, statusOf({ step: stepOf() }));
    if (text.startsWith('Step 2'))
      host.write(STATUS, statusOf({ state: 'failed', failure: retried }));
    if (text.startsWith('It starts again')) host.write(RESULT, '{"id":"mine"}');
    if (printed.length > 2) void clock.wake();
  });
  t.strictSame(ended, { id: 'mine' });
  t.match(printed.at(-1), 'It starts again after a failure: the API does not answer');
});
