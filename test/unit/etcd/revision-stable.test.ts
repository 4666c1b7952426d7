import { status } from '@grpc/grpc-js';
import t, { type Test } from 'tap';
import { waitUntilRevisionStable } from '../../../lib/etcd/revision-stable.ts';
import { thrownBy } from '../errors/thrown-by.ts';
import { type Stream, serveEtcd, statusAt } from './serve-etcd.ts';

const write = (revision: number, ...keys: string[]) => ({
  header: { revision, memberId: '7' },
  events: keys.map((key) => ({ kv: { key: Buffer.from(key), modRevision: revision } })),
});

/** A member whose watch and revision a test moves. */
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

const wait = (change: object = {}) => ({
  quietMs: 100,
  deadlineMs: 60_000,
  signal: AbortSignal.timeout(60_000),
  report: () => {},
  ...change,
});

t.test('it rests at the revision of the last write', async (t) => {
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

t.test('a revision that the watch has not told yet is not rest', async (t) => {
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
  const { client, opened } = await member(t, () => revision);
  const stable = waitUntilRevisionStable(client, wait({ quietMs: 2000 }));
  const stream = await opened;
  const began = performance.now();
  stream.send(write(5));
  await new Promise((resolve) => setTimeout(resolve, 1200));
  revision = 6;
  const wroteAt = performance.now() - began;
  stream.send(write(6, '/registry/a'));
  t.equal(await stable, 6);
  t.ok(performance.now() - began >= wroteAt + 1900, 'the whole quiet time after the write');
});

t.test('the deadline names the last write', async (t) => {
  const { client, opened } = await member(t, () => 5);
  const stable = waitUntilRevisionStable(client, wait({ quietMs: 60_000, deadlineMs: 1000 }));
  const thrown = thrownBy(stable);
  (await opened).send(write(6, '/registry/a', '/registry/b'));
  t.match(await thrown, {
    kind: 'deadline',
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
