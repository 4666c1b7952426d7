import { EventEmitter, once } from 'node:events';
import { status } from '@grpc/grpc-js';
import t, { type Test } from 'tap';
import { waitUntilRevisionStable } from '../../../../lib/clients/etcd/revision-stable.ts';
import { thrownBy } from '../../base/errors/thrown-by.ts';
import { type Stream, serveEtcd, statusAt } from './serve-etcd.ts';

const write = (revision: number, ...keys: string[]) => ({
  header: { revision, memberId: '7' },
  events: keys.map((key) => ({ kv: { key: Buffer.from(key), modRevision: revision } })),
});

/** A member whose watch and revision are controlled by the test. */
async function member(t: Test, revisions: () => number) {
  const opened = Promise.withResolvers<Stream>();
  const asked: number[] = [];
  const client = await serveEtcd(
    t,
    {
      Status: () => {
        const revision = revisions();
        asked.push(revision);
        return statusAt(revision);
      },
    },
    { Watch: opened.resolve },
  );
  return { client, opened: opened.promise, asked };
}

/** Replaces the timer of that duration by one under the test's control; others run normally. */
function quietTimer(t: Test, quietMs: number) {
  const { setTimeout, clearTimeout } = globalThis;
  const restarts = new EventEmitter();
  const cleared: unknown[] = [];
  let end = () => {};
  const timer = { refresh: () => restarts.emit('restart') };
  t.capture(globalThis, 'setTimeout', (run: () => void, ms: number) => {
    if (ms !== quietMs) return setTimeout(run, ms);
    end = run;
    return timer;
  });
  t.capture(globalThis, 'clearTimeout', (it: NodeJS.Timeout) => {
    cleared.push(it);
    clearTimeout(it);
  });
  return {
    restarted: () => once(restarts, 'restart'),
    end: () => end(),
    isCleared: () => cleared.includes(timer),
  };
}

const wait = (change: object = {}) => ({
  quietMs: 100,
  deadlineMs: 60_000,
  signal: AbortSignal.timeout(60_000),
  report: () => {},
  ...change,
});

t.test('it settles at the revision of the last write', async (t) => {
  const { client, opened } = await member(t, () => 5);
  const reports: string[] = [];
  const stable = waitUntilRevisionStable(
    client,
    wait({ report: (text: string) => reports.push(text) }),
  );
  (await opened).send(write(5));
  t.equal(await stable, 5);
  t.match(reports, [/no write for 0\.1 s.*revision 5/]);
  t.equal(reports.length, 1);
  t.notMatch(reports, [/last write/]);
});

t.test('a revision that the watch has not reported yet is not stable', async (t) => {
  const { client, opened, asked } = await member(t, () => 6);
  let isStable = false;
  const stable = waitUntilRevisionStable(client, wait()).finally(() => {
    isStable = true;
  });
  const stream = await opened;
  stream.send(write(5));
  while (asked.length < 2) await new Promise((resolve) => setImmediate(resolve));
  t.notOk(isStable, 'revision 6 has been asked for twice, its write was not seen');
  stream.send(write(6, '/registry/a'));
  t.equal(await stable, 6);
});

t.test('a write restarts the quiet time', async (t) => {
  let revision = 5;
  const { client, opened, asked } = await member(t, () => revision);
  const quiet = quietTimer(t, 77_777);
  const stable = waitUntilRevisionStable(client, wait({ quietMs: 77_777 }));
  const stream = await opened;
  const write5 = quiet.restarted();
  stream.send(write(5));
  await write5;
  const write6 = quiet.restarted();
  stream.send(write(6, '/registry/a'));
  await write6;
  t.same(asked, [], 'etcd is asked when the time is over');
  const unrest = quiet.restarted();
  quiet.end();
  await unrest;
  t.same(asked, [5], 'etcd that is behind what was seen is not at rest');
  revision = 6;
  quiet.end();
  t.equal(await stable, 6);
  t.ok(quiet.isCleared());
});

t.test('progress is reported every five seconds at most', async (t) => {
  const { client, opened } = await member(t, () => 8);
  const clock = { ms: 1000 };
  t.capture(performance, 'now', () => clock.ms);
  const quiet = quietTimer(t, 77_777);
  const reports: string[] = [];
  const report = (text: string) => reports.push(text);
  const stable = waitUntilRevisionStable(client, wait({ quietMs: 77_777, report }));
  const stream = await opened;
  for (const [revision, afterMs] of [
    [5, 0],
    [6, 4999],
    [7, 1],
    [8, 4999],
  ] as const) {
    clock.ms += afterMs;
    const restarted = quiet.restarted();
    stream.send(write(revision, '/registry/a'));
    await restarted;
  }
  quiet.end();
  await stable;
  const told = (revision: number) =>
    `a stable etcd revision (no write for 77.777 s); revision ${revision}, last write to /registry/a`;
  t.same(reports, [told(5), told(7)]);
});

t.test('the deadline names the last write', async (t) => {
  const { client, opened } = await member(t, () => 5);
  const reported = Promise.withResolvers<string>();
  const stable = waitUntilRevisionStable(
    client,
    wait({ quietMs: 60_000, deadlineMs: 90_000, report: reported.resolve }),
  );
  const thrown = thrownBy(stable);
  const stream = await opened;
  stream.send(write(6, '/registry/a', '/registry/b'));
  await reported.promise;
  stream.cut(status.DEADLINE_EXCEEDED, 'Deadline exceeded');
  t.match(await thrown, {
    kind: 'deadline',
    what: /within 90 s$/,
    details: { expected: /no write for 60 s/, found: 'revision 6, last write to /registry/b' },
  });
  const silent = await member(t, () => 5);
  const unheard = waitUntilRevisionStable(
    silent.client,
    wait({ quietMs: 60_000, deadlineMs: 500 }),
  );
  t.match(await thrownBy(unheard), { kind: 'deadline', details: { found: 'no answer' } });
});

t.test('a watch that ends, fails or is cancelled ends the wait', async (t) => {
  const cases: [string, (stream: Stream) => void, object][] = [
    ['ended', (stream) => stream.end(), { kind: 'retry' }],
    [
      'cancelled',
      (stream) => stream.send({ ...write(5), canceled: true, cancelReason: 'compacted' }),
      { kind: 'retry', details: { found: 'compacted' } },
    ],
    [
      'failed',
      (stream) => stream.cut(status.PERMISSION_DENIED, 'no right'),
      { message: /no right/ },
    ],
  ];
  for (const [title, end, error] of cases) {
    const { client, opened } = await member(t, () => 5);
    const stable = thrownBy(waitUntilRevisionStable(client, wait({ quietMs: 60_000 })));
    end(await opened);
    t.match(await stable, error, title);
  }
});

t.test('a signal ends it, and a status that fails', async (t) => {
  const { client, opened } = await member(t, () => 5);
  const stop = new AbortController();
  const stable = waitUntilRevisionStable(client, wait({ signal: stop.signal, quietMs: 60_000 }));
  await opened;
  stop.abort(new Error('told to stop'));
  await t.rejects(stable, /told to stop/);
  const broken = await member(t, () => {
    throw new Error('no status');
  });
  await t.rejects(waitUntilRevisionStable(broken.client, wait()), /no status/);
});
