import {
  copyFile,
  mkdir,
  open,
  readdir,
  readFile,
  stat,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { etcdMinor } from '../../lab/components/versions.ts';
import { etcdBinaries } from '../../lab/servers/binaries.ts';
import { limits, makeTls, member, startEtcd } from '../../lab/servers/etcd-member.ts';
import { Failure } from '../../lib/base/errors/failure.ts';
import { connectEtcd, type HashKv } from '../../lib/clients/etcd/client.ts';
import { freeSpace } from '../../lib/clients/etcd/free-space.ts';
import { type RestoreOptions, restoreSnapshot } from '../../lib/clients/etcd/restore.ts';
import { waitUntilRevisionStable } from '../../lib/clients/etcd/revision-stable.ts';
import { type Snapshot, takeSnapshot } from '../../lib/clients/etcd/snapshot.ts';
import { sha256OfFile } from '../../lib/host/files.ts';

const { etcd, etcdutl } = await etcdBinaries(AbortSignal.timeout(600_000));
const folder = t.testdir();
const tls = await makeTls();
const snapshotPath = join(folder, 'snapshot.db');

function restoreOptions(taken: Snapshot, { revision, ...history }: HashKv): RestoreOptions {
  return {
    ...member,
    peerUrl: 'http://127.0.0.1:2380',
    expected: { sha256: taken.sha256, revision, history },
    etcdutl,
    signal: AbortSignal.timeout(60_000),
    deadlineMs: 30_000,
  };
}

/** A cluster with a history: values written, overwritten, compacted, defragmented. */
const { taken, hashKv } = await (async () => {
  const live = await startEtcd(etcd, join(folder, 'live'), join(folder, 'live-data'), tls);
  try {
    for (let i = 0; i < 50; i++)
      await live.put(`/registry/thing-${i % 7}`, Buffer.from(`value ${i}`));
    const revision = await live.client.revision(limits());
    await live.client.compact(revision, true, limits());
    await live.client.compact(revision, true, limits());
    await live.client.defragment(limits());
    const hashed = await live.client.hashKv(revision, limits());
    return { taken: await takeSnapshot(live.client, snapshotPath, limits()), hashKv: hashed };
  } finally {
    await live.stop();
  }
})();

t.test('a snapshot is complete, private and at the hashed revision', async (t) => {
  const { mode, size } = await stat(snapshotPath);
  t.equal(mode & 0o777, 0o600);
  t.equal(size, taken.bytes);
  t.equal(size % 512, 32, 'ends with the digest that etcdutl looks for');
  t.match(hashKv, { revision: 51, compactRevision: 51 });
  t.equal(taken.revision, hashKv.revision);
  t.match(taken.version, new RegExp(`^${etcdMinor}.`));
  t.notOk((await readdir(folder)).includes('snapshot.db.partial'));
});

t.test('a restored member returns the same hash and the same values', async (t) => {
  const dataDir = join(folder, 'restored');
  await mkdir(dataDir);
  await mkdir(`${dataDir}.restoring/half-made`, { recursive: true });
  const options = restoreOptions(taken, hashKv);
  t.equal(await restoreSnapshot(snapshotPath, dataDir, options), 'restored');
  t.equal((await stat(dataDir)).mode & 0o777, 0o700);
  t.notOk((await readdir(folder)).includes('restored.restoring'));
  const restored = await startEtcd(etcd, join(folder, 'again'), dataDir, tls);
  t.teardown(() => restored.stop());
  t.strictSame(await restored.client.hashKv(hashKv.revision, limits()), hashKv);
  t.equal(await restored.get('/registry/thing-0'), 'value 49');
  await restored.put('/registry/new', Buffer.from('x'));

  t.equal(
    await restoreSnapshot(snapshotPath, dataDir, options),
    'already-there',
    'also when in use',
  );
  t.equal(await restored.get('/registry/new'), 'x');
  const other = { ...options, token: 'other' };
  await t.rejects(
    restoreSnapshot(snapshotPath, dataDir, other),
    /already contains another.*token test/s,
  );
});

t.test('an older state is restored with bumped revisions', async (t) => {
  const dataDir = join(folder, 'bumped');
  const options = { ...restoreOptions(taken, hashKv), bumpRevision: 1_000_000_000 };
  t.equal(await restoreSnapshot(snapshotPath, dataDir, options), 'restored');
  const restored = await startEtcd(etcd, join(folder, 'bumped-tls'), dataDir, tls);
  t.teardown(() => restored.stop());
  t.ok((await restored.client.revision(limits())) > 1_000_000_000);
  t.equal(await restored.get('/registry/thing-0'), 'value 49');
});

t.test('a file that is not the recorded snapshot is refused, and leaves nothing', async (t) => {
  const options = restoreOptions(taken, hashKv);
  const { expected } = options;
  const copy = async (name: string) => {
    const path = join(t.testdirName, name);
    await copyFile(snapshotPath, path);
    return path;
  };
  t.testdir();
  const flipped = await copy('flipped');
  await flipByte(flipped, 5000);
  const badTrailer = await copy('trailer');
  await flipByte(badTrailer, taken.bytes - 1);
  const short = await copy('short');
  await truncate(short, taken.bytes - 32);
  const cases = [
    { name: 'damaged', path: flipped, expected, error: /not the one that was taken.*SHA-256/s },
    { name: 'absent', path: join(t.testdirName, 'none'), expected, error: /found no file/ },
    { name: 'digest damaged', path: badTrailer, error: /expected sha256 .* got/ },
    { name: 'body damaged', path: flipped, error: /expected sha256 .* got/ },
    { name: 'digest cut off', path: short, error: /snapshot restore failed/ },
    {
      name: 'other hash',
      expected: { ...expected, history: { ...hashKv, hash: 1 } },
      error: /expected HashKV 1 at .*HashKV \d{2,}/,
    },
    {
      name: 'other compaction',
      expected: { ...expected, history: { ...hashKv, compactRevision: 3 } },
      error: /compacted at 3.*compacted at 51/,
    },
    { name: 'later revision', expected: { ...expected, revision: 99 }, error: /future revision/ },
  ];
  for (const { name, path = snapshotPath, error, ...given } of cases) {
    const dataDir = join(t.testdirName, 'refused');
    // Without a recorded digest the file's own must be sufficient: expect its actual digest.
    const fitting = given.expected ?? { ...expected, sha256: await digestOf(path) };
    const attempt = restoreSnapshot(path, dataDir, { ...options, expected: fitting });
    await t.rejects(attempt, Failure, name);
    await t.rejects(attempt, error, name);
    t.notOk(
      (await readdir(t.testdirName)).some((entry) => entry.startsWith('refused')),
      name,
    );
  }
});

t.test('another database is never replaced', async (t) => {
  const dataDir = t.testdir({ member: { snap: { db: 'precious' } } });
  const refused = await thrownBy(
    restoreSnapshot(snapshotPath, dataDir, restoreOptions(taken, hashKv)),
  );
  t.match(refused, { kind: 'fatal', details: { found: 'member' } });
  t.equal(await readFile(join(dataDir, 'member/snap/db'), 'utf8'), 'precious');
  await writeFile(join(dataDir, 'member/restored.json'), '{ torn');
  await t.rejects(restoreSnapshot(snapshotPath, dataDir, restoreOptions(taken, hashKv)), Failure);
});

t.test('a snapshot of a large database is taken without holding it in memory', async (t) => {
  const live = await startEtcd(etcd, join(folder, 'large'), join(folder, 'large-data'), tls);
  t.teardown(() => live.stop());
  const value = Buffer.alloc(1 << 20, 'x');
  for (let i = 0; i < 200; i++) await live.put(`/large/${i}`, value);
  const before = process.memoryUsage().rss;
  let peak = before;
  const sampling = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().rss);
  }, 20);
  const large = await takeSnapshot(live.client, join(folder, 'large.db'), limits(60_000));
  clearInterval(sampling);
  t.ok(large.bytes > 200 * 2 ** 20, `${large.bytes} bytes`);
  t.ok(peak - before < 128 * 2 ** 20, `grew by ${Math.round((peak - before) / 2 ** 20)} MiB`);
});

t.test('waiting for rest', async (t) => {
  const live = await startEtcd(etcd, join(folder, 'rest'), join(folder, 'rest-data'), tls);
  t.teardown(() => live.stop());
  const stop = new AbortController();
  const writing = (async () => {
    for (let i = 0; !stop.signal.aborted; i++) {
      await live.put('/registry/leases/busy', Buffer.from(String(i)));
      await sleep(50);
    }
  })();
  const wait = (deadlineMs: number, signal = AbortSignal.timeout(20_000)) => {
    const reports: string[] = [];
    const report = (description: string) => reports.push(description);
    return {
      reports,
      rest: waitUntilRevisionStable(live.client, { quietMs: 400, deadlineMs, signal, report }),
    };
  };
  t.match(await thrownBy(wait(1500).rest), {
    kind: 'deadline',
    message: /last write to \/registry\/leases\/busy/,
  });
  await t.rejects(wait(9000, AbortSignal.timeout(300)).rest, { name: 'TimeoutError' });
  const writes = takeSnapshotWhile(live.client);
  await t.rejects(writes, /etcd revision changed during the snapshot/);
  setTimeout(() => stop.abort(), 700);
  const { rest, reports } = wait(10_000);
  const revision = await rest;
  await writing;
  t.equal(revision, await live.client.revision(limits()));
  t.match(reports, [/stable etcd revision/]);
});

t.test('an unreachable etcd, and a client that it does not trust', async (t) => {
  const live = await startEtcd(etcd, join(folder, 'gone'), join(folder, 'gone-data'), tls);
  await live.client.status({ ...limits(), waitForReady: true });
  using stranger = connectEtcd(live.client.endpoint, await makeTls());
  t.match(await thrownBy(stranger.status(limits(3000))), { kind: 'retry' });
  const { endpoint } = live.client;
  t.throws(
    () => connectEtcd(endpoint, { ...tls, cert: 'none' }),
    /client certificate .* cannot be used/,
  );
  t.throws(() => connectEtcd('http://127.0.0.1:2379', tls), /must use https/);
  await live.stop();
  using late = connectEtcd(endpoint, tls);
  await t.rejects(late.status(limits(3000)), {
    name: 'RpcFailure',
    message: /^etcd at https.*Status/,
  });
  const waiting = late.status({
    ...limits(500),
    waitForReady: true,
    signal: AbortSignal.timeout(9000),
  });
  t.match(await thrownBy(waiting), { kind: 'retry' });
  await t.rejects(
    late.status({ ...limits(), signal: AbortSignal.abort(new Error('stopped')) }),
    /stopped/,
  );
});

/** Takes snapshots until one of them coincides with a write. */
async function takeSnapshotWhile(client: Parameters<typeof takeSnapshot>[0]): Promise<void> {
  for (let i = 0; i < 100; i++) await takeSnapshot(client, join(folder, 'busy.db'), limits());
}

async function thrownBy(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}

async function flipByte(path: string, position: number): Promise<void> {
  const file = await open(path, 'r+');
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, position);
  await file.write(Buffer.of(buffer.readUInt8(0) ^ 0xff), 0, 1, position);
  await file.close();
}

async function digestOf(path: string): Promise<string> {
  return sha256OfFile(path, AbortSignal.timeout(10_000));
}

t.test('a database that has reached its quota is written to again', async (t) => {
  const folder = t.testdir();
  // The smallest: etcd's own pages need a part of it.
  const args = [`--quota-backend-bytes=${4 << 20}`];
  const full = await startEtcd(etcd, join(folder, 'live'), join(folder, 'data'), tls, { args });
  t.teardown(() => full.stop());
  const fill = async () => {
    for (let at = 0; at < 64; at++) await full.put('/registry/thing', Buffer.alloc(512 << 10, at));
  };
  await t.rejects(fill(), /database space exceeded/);
  t.match(await full.client.alarms(limits()), [{ alarm: 'NOSPACE' }]);
  const freed = await freeSpace(full.client, limits());
  t.ok(freed.after < freed.before, `${freed.before} to ${freed.after} bytes`);
  t.equal(freed.isDisarmed, true);
  t.strictSame(await full.client.alarms(limits()), []);
  await full.put('/registry/thing', Buffer.from('small'));
  t.match(await freeSpace(full.client, limits()), { isDisarmed: false }, 'once more');
});
