import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { type RestoreOptions, restoreSnapshot } from '../../../lib/clients/etcd/restore.ts';
import { sha256 } from '../../../lib/host/files.ts';
import { waitForFiles } from '../../../lib/host/watch.ts';
import { thrownBy } from '../../unit/base/errors/thrown-by.ts';
import { recordFileOperations } from '../../unit/host/file-operations.ts';

const SNAPSHOT = 'keys and values';
const KEPT = { hash: 77, revision: 51, compactRevision: 50 };

interface Etcdutl {
  /** Result of `hashkv`. */
  readonly answer?: object;
  /** Additional script for `snapshot restore`. */
  readonly restore?: string;
}

/** A folder with a snapshot, and an etcdutl that records its calls. */
async function host(t: Test, { answer, restore = '' }: Etcdutl = {}) {
  const { hash, revision, compactRevision } = KEPT;
  const said = JSON.stringify({ hash, hashRevision: revision, compactRevision, ...answer });
  const folder = t.testdir({ 'snapshot.db': SNAPSHOT, calls: '' });
  const etcdutl = join(folder, 'etcdutl');
  const script = `#!/bin/sh
cat
printf '%s\\n' "$*" >> ${folder}/calls
case "$1" in
hashkv) printf '%s' '${said}' ;;
snapshot)
  mkdir "$5" || exit 8
  mkdir -p "$5/member/snap" "$5/member/wal"
  cp "$3" "$5/member/snap/db"
  printf w > "$5/member/wal/0.wal"
  ln -s /nowhere "$5/member/link"
  ${restore}
  ;;
esac
`;
  await writeFile(etcdutl, script);
  await chmod(etcdutl, 0o755);
  const options: RestoreOptions = {
    name: 'etcd',
    peerUrl: 'https://192.0.2.10:2380',
    token: 'cluster-7',
    expected: {
      sha256: sha256(SNAPSHOT),
      revision: KEPT.revision,
      history: { hash: KEPT.hash, compactRevision: KEPT.compactRevision },
    },
    etcdutl,
    signal: AbortSignal.timeout(60_000),
    deadlineMs: 60_000,
  };
  const calls = async () => (await readFile(join(folder, 'calls'), 'utf8')).trimEnd().split('\n');
  return { folder, snapshot: join(folder, 'snapshot.db'), options, calls };
}

t.test('the snapshot is restored to a temporary folder, compared and described', async (t) => {
  const { folder, snapshot, options, calls } = await host(t);
  const target = join(folder, 'var', 'etcd');
  t.equal(await restoreSnapshot(snapshot, target, options), 'restored');
  const beside = `${target}.restoring`;
  t.strictSame(await calls(), [
    `snapshot restore ${snapshot} --data-dir ${beside} --name etcd` +
      ' --initial-cluster etcd=https://192.0.2.10:2380 --initial-cluster-token cluster-7' +
      ' --initial-advertise-peer-urls https://192.0.2.10:2380',
    `hashkv ${beside}/member/snap/db --rev 51 --write-out json`,
  ]);
  t.equal(await readFile(join(target, 'member/snap/db'), 'utf8'), SNAPSHOT);
  const record = join(target, 'member/restored.json');
  t.strictSame(JSON.parse(await readFile(record, 'utf8')), {
    sha256: sha256(SNAPSHOT),
    name: 'etcd',
    peerUrl: 'https://192.0.2.10:2380',
    token: 'cluster-7',
    revision: 51,
    bumpRevision: 0,
  });
  t.equal((await stat(record)).mode & 0o777, 0o600);
  t.equal((await stat(join(target, '..'))).mode & 0o777, 0o755);
  t.strictSame(await readdir(join(folder, 'var')), ['etcd']);
});

t.test('every file and folder is synced before it gets its name', async (t) => {
  const { folder, snapshot, options } = await host(t);
  const files = await recordFileOperations(t, folder);
  await restoreSnapshot(snapshot, join(folder, 'etcd'), options);
  const named = files.seen.indexOf('rename etcd.restoring -> etcd');
  t.not(named, -1);
  const before = files.seen.slice(0, named);
  for (const path of ['member/snap/db', 'member/wal/0.wal', 'member/restored.json']) {
    t.ok(before.includes(`sync etcd.restoring/${path}`), path);
  }
  for (const path of ['', '/member', '/member/snap', '/member/wal']) {
    t.ok(before.lastIndexOf(`sync etcd.restoring${path}`) > 0, `folder etcd.restoring${path}`);
  }
  t.strictSame(files.seen.slice(named + 1), ['sync .'], 'the name in its folder');
});

t.test('a snapshot of an etcd in use has no hash to compare: it is restored once', async (t) => {
  const { folder, snapshot, options, calls } = await host(t);
  const { sha256: digest, revision } = options.expected;
  const expected = { sha256: digest, revision };
  await restoreSnapshot(snapshot, join(folder, 'etcd'), {
    ...options,
    expected,
    bumpRevision: 1000,
  });
  const [only = '', ...others] = await calls();
  t.match(only, /^snapshot restore .* --bump-revision 1000 --mark-compacted$/);
  t.strictSame(others, []);
  await restoreSnapshot(snapshot, join(folder, 'other'), { ...options, expected });
  t.notMatch((await calls()).at(-1), /bump|hashkv/);
});

t.test('a bumped revision is restored again after the comparison', async (t) => {
  const { folder, snapshot, options, calls } = await host(t);
  const bumped = { ...options, bumpRevision: 1_000_000 };
  await restoreSnapshot(snapshot, join(folder, 'etcd'), bumped);
  t.match(await calls(), [
    /^snapshot restore (?!.*--bump)/,
    /^hashkv /,
    /^snapshot restore .* --bump-revision 1000000 --mark-compacted$/,
  ]);
  const text = await readFile(join(folder, 'etcd/member/restored.json'), 'utf8');
  t.match(JSON.parse(text), { bumpRevision: 1_000_000 });
});

t.test('an earlier restore of the same snapshot is left unchanged', async (t) => {
  const { folder, snapshot, options, calls } = await host(t);
  const target = join(folder, 'etcd');
  await restoreSnapshot(snapshot, target, options);
  await writeFile(join(target, 'member/snap/db'), 'written to since');
  t.equal(await restoreSnapshot(snapshot, target, options), 'already-there');
  t.equal(await readFile(join(target, 'member/snap/db'), 'utf8'), 'written to since');
  t.equal((await calls()).length, 2);
});

t.test('another database is never replaced', async (t) => {
  const { folder, snapshot, options } = await host(t);
  const target = join(folder, 'etcd');
  await restoreSnapshot(snapshot, target, options);
  const { expected } = options;
  const others = [
    { ...options, name: 'other' },
    { ...options, peerUrl: 'https://192.0.2.11:2380' },
    { ...options, token: 'other' },
    { ...options, bumpRevision: 5 },
    { ...options, expected: { ...expected, revision: 52 } },
    { ...options, expected: { ...expected, sha256: 'f'.repeat(64) } },
  ];
  for (const other of others) {
    const thrown = await thrownBy(restoreSnapshot(snapshot, target, other));
    t.match(thrown, {
      kind: 'fatal',
      details: {
        found: new RegExp(
          `snapshot ${sha256(SNAPSHOT).slice(0, 12)} \\(.*member etcd at .*token cluster-7`,
        ),
      },
    });
  }
  const foreign = join(folder, 'foreign');
  for (const text of ['no JSON', '{}']) {
    await mkdir(join(foreign, 'member'), { recursive: true });
    await mkdir(join(foreign, 'lost+found'), { recursive: true });
    await writeFile(join(foreign, 'member/restored.json'), text);
    const thrown = await thrownBy(restoreSnapshot(snapshot, foreign, options));
    t.match(thrown, { kind: 'fatal', details: { found: 'lost+found, member' } });
  }
});

t.test('a file that is not the recorded snapshot is not restored', async (t) => {
  const { folder, snapshot, options, calls } = await host(t);
  const target = join(folder, 'etcd');
  const missing = await thrownBy(restoreSnapshot(join(folder, 'none'), target, options));
  t.match(missing, { kind: 'fatal', code: 'snapshot-unusable', details: { found: 'no file' } });
  await writeFile(snapshot, 'something else');
  const thrown = await thrownBy(restoreSnapshot(snapshot, target, options));
  t.match(thrown, {
    kind: 'fatal',
    code: 'snapshot-unusable',
    details: { found: sha256('something else') },
  });
  t.strictSame(await calls(), [''], 'etcdutl was not run');
  await t.rejects(restoreSnapshot(folder, target, options), /EISDIR/);
});

t.test('a database with another hash is deleted', async (t) => {
  for (const answer of [{ hash: 78 }, { hashRevision: 50 }, { compactRevision: 51 }]) {
    await t.test(JSON.stringify(answer), async (t) => {
      const { folder, snapshot, options } = await host(t, { answer });
      const thrown = await thrownBy(restoreSnapshot(snapshot, join(folder, 'etcd'), options));
      t.match(thrown, {
        kind: 'fatal',
        code: 'snapshot-unusable',
        details: { expected: 'HashKV 77 at revision 51, compacted at 50' },
      });
      t.strictSame(await readdir(folder), ['calls', 'etcdutl', 'snapshot.db']);
    });
  }
});

t.test('a restore without a database is not hashed', async (t) => {
  const { folder, snapshot, options } = await host(t, { restore: 'rm "$5/member/snap/db"' });
  const thrown = await thrownBy(restoreSnapshot(snapshot, join(folder, 'etcd'), options));
  t.match(thrown, { kind: 'fatal', message: /no database/ });
});

t.test('leftovers of an interrupted run are replaced, those of a failed one deleted', async (t) => {
  const restore = '[ ! -e "$5/old" ] || exit 9';
  const { folder, snapshot, options } = await host(t, { restore });
  const target = join(folder, 'etcd');
  await mkdir(`${target}.restoring/old`, { recursive: true });
  t.equal(await restoreSnapshot(snapshot, target, options), 'restored');
  const failing = await host(t, { restore: 'echo "Error: no space" >&2; echo more >&2; exit 1' });
  const other = join(failing.folder, 'other');
  const thrown = await thrownBy(restoreSnapshot(failing.snapshot, other, failing.options));
  t.match(thrown, {
    kind: 'retry',
    code: 'command-failed',
    cause: Error,
    details: { found: 'Error: no space', tellsCause: true },
  });
  t.notOk((await readdir(failing.folder)).some((name) => name.startsWith('other')));
});

t.test('an etcdutl that cannot be run is named', async (t) => {
  const { folder, snapshot, options } = await host(t);
  const etcdutl = join(folder, 'none');
  const thrown = await thrownBy(
    restoreSnapshot(snapshot, join(folder, 'etcd'), { ...options, etcdutl }),
  );
  t.match(thrown, { kind: 'retry', details: { found: /ENOENT/ } });
});

t.test('etcdutl ends at its deadline and with the signal', async (t) => {
  const { folder, snapshot, options, calls } = await host(t, { restore: 'exec sleep 600' });
  const target = join(folder, 'etcd');
  const late = await thrownBy(restoreSnapshot(snapshot, target, { ...options, deadlineMs: 300 }));
  t.match(late, { kind: 'deadline', cause: Error, details: { expected: /0\.3 s/ } });
  const stop = new AbortController();
  await writeFile(join(folder, 'calls'), '');
  const stopped = restoreSnapshot(snapshot, target, { ...options, signal: stop.signal });
  const limits = { signal: options.signal, deadlineMs: 60_000, describe: () => 'a call' };
  // While it is running.
  const isCalled = async () => (await calls())[0] !== '';
  await waitForFiles([join(folder, 'calls')], isCalled, limits).then(() =>
    stop.abort(new Error('told to stop')),
  );
  await t.rejects(stopped, /told to stop/);
  t.notOk((await readdir(folder)).includes('etcd.restoring'));
});

t.test('a folder filled meanwhile is not replaced', async (t) => {
  const { folder, snapshot, options } = await host(t, {
    restore: `mkdir -p "\${5%.restoring}/member"`,
  });
  await t.rejects(restoreSnapshot(snapshot, join(folder, 'etcd'), options), /ENOTEMPTY/);
  t.strictSame(await readdir(join(folder, 'etcd')), ['member']);
});
