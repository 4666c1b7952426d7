import { createHash } from 'node:crypto';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import t, { type Test } from 'tap';
import { takeSnapshot } from '../../../../lib/clients/etcd/snapshot.ts';
import { thrownBy } from '../../base/errors/thrown-by.ts';
import { recordFileOperations } from '../../host/file-operations.ts';
import { rpcError, type Stream, serveEtcd, statusAt } from './serve-etcd.ts';

const database = Buffer.from('d'.repeat(5000));
const digest = createHash('sha256').update(database).digest();
const whole = Buffer.concat([database, digest]);
const limits = () => ({ signal: AbortSignal.timeout(60_000), deadlineMs: 60_000 });

function sendWhole(stream: Stream): void {
  const version = '3.6.0';
  stream.send({ blob: database.subarray(0, 3000), remainingBytes: 2000, version });
  stream.send({
    blob: Buffer.concat([database.subarray(3000), digest]),
    remainingBytes: 0,
    version,
  });
  stream.end();
}

/** A member at revision 9 whose snapshots are written to a folder of their own. */
async function member(t: Test, revisions = [9, 9], send: (stream: Stream) => void = sendWhole) {
  const left = [...revisions];
  const client = await serveEtcd(
    t,
    { Status: () => statusAt(left.shift() ?? 0) },
    { Snapshot: send },
  );
  const folder = join(t.testdirName, 'state');
  return { client, folder, target: join(folder, 'snapshots', 'etcd.db') };
}

t.test('the snapshot is complete, private and described', async (t) => {
  const { client, target } = await member(t);
  const taken = await takeSnapshot(client, target, limits());
  t.strictSame(taken, {
    path: target,
    revision: 9,
    bytes: whole.length,
    sha256: createHash('sha256').update(whole).digest('hex'),
    version: '3.6.0',
  });
  t.ok(whole.equals(await readFile(target)));
  t.equal((await stat(target)).mode & 0o777, 0o600);
  t.equal((await stat(join(target, '..'))).mode & 0o777, 0o755);
});

t.test('it appears once it is synced, and its name is made durable', async (t) => {
  const { client, folder, target } = await member(t);
  const files = await recordFileOperations(t, folder);
  await takeSnapshot(client, target, limits());
  t.strictSame(files.seen, [
    'sync snapshots/etcd.db.partial',
    'rename snapshots/etcd.db.partial -> snapshots/etcd.db',
    'sync snapshots',
  ]);
});

t.test('leftovers of an interrupted run are deleted first', async (t) => {
  const { client, target } = await member(t, [9, 9, 9, 9]);
  await takeSnapshot(client, target, limits());
  await writeFile(`${target}.partial`, 'x'.repeat(9000), { mode: 0o644 });
  await takeSnapshot(client, target, limits());
  t.ok(whole.equals(await readFile(target)));
  t.equal((await stat(target)).mode & 0o777, 0o600);
});

t.test('a write during the snapshot is detected; nothing is left', async (t) => {
  const { client, target } = await member(t, [9, 10]);
  const attempt = takeSnapshot(client, target, limits());
  t.match(await thrownBy(attempt), {
    kind: 'retry',
    details: { expected: /\b9\b/, found: /\b10\b/ },
  });
  t.strictSame(await readdir(join(target, '..')), []);
});

t.test('a file that cannot be synced is not a snapshot', async (t) => {
  const { client, folder, target } = await member(t);
  const files = await recordFileOperations(t, folder);
  files.failAt(/^sync .*partial/, new Error('EIO'));
  await t.rejects(takeSnapshot(client, target, limits()), /EIO/);
  t.strictSame(await readdir(join(target, '..')), []);
});

t.test('a name that cannot be made durable is an error', async (t) => {
  const { client, folder, target } = await member(t);
  const files = await recordFileOperations(t, folder);
  files.failAt(/^sync snapshots$/, new Error('EIO'));
  await t.rejects(takeSnapshot(client, target, limits()), /EIO/);
});

const broken: readonly { title: string; send: (stream: Stream) => void; found: RegExp }[] = [
  {
    title: 'damaged',
    send: (stream) => {
      stream.send({
        blob: Buffer.concat([database.fill('e', 5, 6), digest]),
        remainingBytes: -32,
        version: '',
      });
      stream.end();
    },
    found: /[0-9a-f]{64}|bytes/,
  },
  {
    title: 'ended early',
    send: (stream) => {
      stream.send({ blob: whole.subarray(0, 100), remainingBytes: 4900, version: '3.6.0' });
      stream.end();
    },
    found: /100 bytes/,
  },
  { title: 'empty', send: (stream) => stream.end(), found: /0 bytes/ },
];

t.test('a broken stream leaves no file', async (t) => {
  for (const { title, send, found } of broken) {
    await t.test(title, async (t) => {
      const { client, target } = await member(t, [9, 9], send);
      const attempt = takeSnapshot(client, target, limits());
      t.match(await thrownBy(attempt), { kind: 'retry', details: { found } });
      t.strictSame(await readdir(join(target, '..')), []);
    });
  }
});

t.test('a member that fails, a deadline and a signal end it', async (t) => {
  const cut = (stream: Stream) => stream.cut(status.UNAVAILABLE, 'going down');
  const { client, target } = await member(t, [9, 9, 9, 9, 9], cut);
  await t.rejects(takeSnapshot(client, target, limits()), /going down/);
  const silent = await member(t, [9, 9, 9, 9], () => {});
  await t.rejects(
    takeSnapshot(silent.client, silent.target, { ...limits(), deadlineMs: 300 }),
    /deadline/i,
  );
  const stop = new AbortController();
  const stopped = takeSnapshot(silent.client, silent.target, { ...limits(), signal: stop.signal });
  stop.abort(new Error('told to stop'));
  await t.rejects(stopped, /told to stop/);
  const refused = await serveEtcd(t, {
    Status: () => {
      throw rpcError(status.INTERNAL, 'no status');
    },
  });
  await t.rejects(takeSnapshot(refused, target, limits()), /no status/);
});
