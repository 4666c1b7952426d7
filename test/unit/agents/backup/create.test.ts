import { randomBytes } from 'node:crypto';
import fs, { type MakeDirectoryOptions, readdirSync, readFileSync } from 'node:fs';
import fsp from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { backupContext } from '../../../../agents/steps/backup/context.ts';
import { create } from '../../../../agents/steps/backup/create.ts';
import { prune } from '../../../../agents/upkeep/backup/prune.ts';
import { listBackups, readManifest } from '../../../../lib/change/backup/store.ts';
import { verifyBackup } from '../../../../lib/change/backup/verify.ts';
import { sha256 } from '../../../../lib/host/files.ts';
import { isSealed, KEY_BYTES } from '../../../../lib/secrets/seal/envelope.ts';
import { readSecret } from '../../../../lib/secrets/seal/files.ts';
import { thrownBy } from '../../base/errors/thrown-by.ts';
import { writeBackup } from '../../change/backup/backup-folder.ts';
import { killedAtAnyMoment } from '../../engine/steps/killed-at-any-moment.ts';
import { captureBuiltins } from '../../host/builtins.ts';
import { recordFileOperations } from '../../host/file-operations.ts';
import { cluster } from '../host/cluster.ts';
import { snapshotBytes } from '../host/etcd.ts';
import type { TestHost } from '../host/host.ts';
import { BACKUPS, backupHost, ENCRYPTION, giveEtcdutl, providers } from './backup-host.ts';

t.test('a backup has the database, its keys and a manifest', async (t) => {
  const { host, run, holds, etcd } = await backupHost(t);
  t.equal(await holds(create), false);
  t.match(await run(create), { kind: 'done', note: /revision 70, 8 revisions/ });
  t.equal(await holds(create), true);
  const [name = ''] = readdirSync(host.at(BACKUPS));
  const folder = host.at(join(BACKUPS, name));
  const manifest = await readManifest(folder);
  t.match(manifest, {
    schemaVersion: 1,
    clusterId: cluster.clusterId,
    hostname: 'edge-0',
    etcd: {
      ...{ revision: 70, totalKey: 8, version: '3.6.0' },
      hashKv: { hash: 99, compactRevision: 14 },
    },
  });
  t.ok(etcd.calls.includes('hash 70'), 'the hash is of the revision in the file');
  t.strictSame(
    manifest.files.map(({ path, host: place, mode, sha256: digest }) => [
      path,
      place,
      mode,
      digest,
    ]),
    [
      ['etcd-snapshot.db', undefined, 0o600, sha256(snapshotBytes)],
      ...[
        ['/etc/kubernetes/pki/ca/etcd/ca.crt', 0o644, 'the certificate of etcd'] as const,
        ['/etc/kubernetes/pki/ca/etcd/ca.key', 0o600, 'the key of etcd'] as const,
        [ENCRYPTION, 0o600, providers('a')] as const,
      ].map(([path, mode, text]) => [`host${path}`, path, mode, sha256(text)]),
    ],
  );
  t.equal(host.mode(BACKUPS), 0o700);
  t.equal(host.mode(folder), 0o700);
  for (const { path } of manifest.files) t.equal(host.mode(join(folder, path)), 0o600, path);
  t.equal(host.mode(join(folder, 'manifest.json')), 0o600);
});

t.test('on a sealed host, the copies of its keys are sealed, too', async (t) => {
  const { host, run } = await backupHost(t);
  host.write('/var/lib/sno-agents/sealed/key.cred', 'a credential', 0o600);
  host.write('/run/sno-agents/sealed/key', randomBytes(KEY_BYTES), 0o600);
  await run(create);
  const [name = ''] = readdirSync(host.at(BACKUPS));
  const folder = host.at(join(BACKUPS, name));
  const { files, clusterId } = await readManifest(folder);
  const copies = files.filter(({ host: place }) => place !== undefined);
  t.equal(copies.length, 3);
  for (const { path, host: place = '' } of copies) {
    t.ok(isSealed(readFileSync(join(folder, path))), `${path} is sealed`);
    t.equal(await readSecret(host.paths, join(folder, path), place), host.read(place));
  }
  const owner = process.getuid?.() ?? 0;
  const signal = AbortSignal.timeout(10_000);
  t.ok(
    await verifyBackup(folder, { clusterId, owner, signal }),
    'its digests are of what is stored',
  );
});

t.test('it gets its name when everything is synced', async (t) => {
  const { host, run } = await backupHost(t);
  const files = await recordFileOperations(t, host.at(BACKUPS));
  await run(create);
  const [name = ''] = readdirSync(host.at(BACKUPS));
  const named = files.seen.indexOf(`rename ${name}.partial -> ${name}`);
  t.not(named, -1);
  const before = files.seen.slice(0, named);
  for (const path of ['', '/manifest.json', '/etcd-snapshot.db', `/host${ENCRYPTION}`]) {
    t.ok(before.includes(`sync ${name}.partial${path}`), path);
  }
  t.ok(files.seen.slice(named).includes('sync .'));
});

t.test('a backup whose revision was compacted meanwhile has no hash', async (t) => {
  const { host, run, etcd } = await backupHost(t);
  etcd.before = (call) => {
    if (call === 'hash') throw new Error('required revision has been compacted');
  };
  t.match(await run(create), { kind: 'done' });
  t.match(host.lines.join(''), /HashKV is not recorded: .*compacted/);
  const [name = ''] = readdirSync(host.at(BACKUPS));
  const { etcd: recorded } = await readManifest(host.at(join(BACKUPS, name)));
  t.strictSame(recorded, { version: '3.6.0', revision: 70, totalKey: 8 });
});

t.test('an agent that is told to stop does not say that etcd has no hash', async (t) => {
  const { host, etcd, context } = await backupHost(t);
  const stop = new AbortController();
  etcd.before = (call) => {
    if (call === 'hash') stop.abort(new Error('told to stop'));
  };
  const stopped = await thrownBy(create.run(context, host.progress(stop.signal)));
  t.match(stopped, { message: 'told to stop' });
  t.notMatch(host.lines.join(''), 'HashKV');
  t.strictSame(readdirSync(host.at(BACKUPS)), []);
});

t.test('each run makes a backup of its own', async (t) => {
  const { host } = await backupHost(t);
  host.write('/etc/sno-agents/cluster.json', JSON.stringify(cluster));
  writeBackup(host.at(`${BACKUPS}/20200101T000000Z`));
  // Made while the clock was fast.
  writeBackup(host.at(`${BACKUPS}/20990101T000000Z`));
  const next = await backupContext(host.paths);
  t.equal(await create.holds(next, host.progress()), false, 'earlier ones do not count');
  t.notSame(create.input(next), create.input(await backupContext(host.paths)));
});

t.test('what killed runs left is deleted, nothing else', async (t) => {
  const { host, run } = await backupHost(t);
  host.write(`${BACKUPS}/20290101T000000Z.partial/etcd-snapshot.db`, 'x');
  host.write(`${BACKUPS}/notes.partial`, 'x');
  await run(create);
  t.notOk(host.has(`${BACKUPS}/20290101T000000Z.partial`));
  t.ok(host.has(`${BACKUPS}/notes.partial`));
});

t.test('interrupted at any moment, there is one complete backup afterwards', async (t) => {
  await killedAtAnyMoment(t, {
    prepare: () => backupHost(t),
    run: ({ run }) => run(create),
    again: async ({ run, holds }) => void ((await holds(create)) || (await run(create))),
    async allowed({ host }, when) {
      for (const { state } of await listBackups(host.paths))
        t.equal(state, 'complete', `${when}: it has its name when it is complete`);
    },
    async result({ host }) {
      const [name = '', ...others] = readdirSync(host.at(BACKUPS));
      const { files } = await readManifest(host.at(join(BACKUPS, name)));
      const modes = files.map(({ path }) => host.mode(join(BACKUPS, name, path)));
      return { others, files, modes, isNamed: /^\d{8}T\d{6}Z$/.test(name) };
    },
    least: 20,
    isDurable: true,
  });
});

t.test('a disk that becomes full ends the backup for good', async (t) => {
  const { host, run } = await backupHost(t);
  const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
  t.capture(fs, 'fsync', (_: number, callback: (error: Error) => void) => callback(full));
  t.match(await thrownBy(run(create)), {
    kind: 'fatal',
    code: 'backup-no-space',
    message: /the disk became full during the backup.*sno-backup create/,
  });
  t.strictSame(readdirSync(host.at(BACKUPS)), [], 'and gives the room back');
});

t.test('a disk on which not even its folder can be made', async (t) => {
  const { host, run } = await backupHost(t);
  const { mkdir } = fsp;
  captureBuiltins(t, () => {
    t.capture(fsp, 'mkdir', async (path: string, options: MakeDirectoryOptions) => {
      if (path.endsWith('.partial')) throw Object.assign(new Error('full'), { code: 'ENOSPC' });
      return mkdir(path, options);
    });
  });
  t.match(await thrownBy(run(create)), { kind: 'fatal', code: 'backup-no-space' });
  t.strictSame(readdirSync(host.at(BACKUPS)), []);
});

t.test('an etcdutl that hangs does not outlive the step', async (t) => {
  const { host, context } = await backupHost(t);
  host.write('/var/lib/sno-agents/bin/etcdutl', '#!/bin/sh\nexec sleep 600\n', 0o755);
  const progress = host.progress(AbortSignal.timeout(300_000), 3000);
  t.match(await thrownBy(create.run(context, progress)), { kind: 'deadline' });
  t.strictSame(readdirSync(host.at(BACKUPS)), []);
});

t.test('a failed one leaves nothing', async (t) => {
  const { host, run } = await backupHost(t);
  giveEtcdutl(host, '"broken":1');
  await thrownBy(run(create));
  t.strictSame(readdirSync(host.at(BACKUPS)), []);
});

t.test('without the encryption configuration there is no backup', async (t) => {
  const { host, run } = await backupHost(t);
  host.remove(ENCRYPTION);
  t.match(await thrownBy(run(create)), { code: 'ENOENT' });
  t.strictSame(readdirSync(host.at(BACKUPS)), []);
});

t.test('a key that cannot be read is not left out', async (t) => {
  const { host, run } = await backupHost(t);
  const key = '/etc/kubernetes/pki/ca/etcd/ca.key';
  host.remove(key);
  host.write(`${key}/folder`);
  t.match(await thrownBy(run(create)), { code: 'EISDIR' });
  t.strictSame(readdirSync(host.at(BACKUPS)), []);
});

t.test('a backup without the key of its Secrets is not completed', async (t) => {
  for (const change of [
    (host: TestHost) => host.write(ENCRYPTION, providers('b'), 0o600),
    (host: TestHost) => host.remove(ENCRYPTION),
  ]) {
    const { host, run, etcd } = await backupHost(t);
    etcd.before = (call) => {
      if (call === 'snapshot') change(host);
    };
    t.match(await thrownBy(run(create)), { kind: 'retry', message: /encryption\.yaml changed/ });
    t.strictSame(readdirSync(host.at(BACKUPS)), []);
    host.write(ENCRYPTION, providers('b'), 0o600);
    etcd.before = () => undefined;
    await run(create);
    t.equal(readdirSync(host.at(BACKUPS)).length, 1, 'the next attempt has the new one');
  }
});

t.test('a disk without room is reported, and the newest backup stays', async (t) => {
  const { host, run } = await backupHost(t, { settings: { backupMinFreeMiB: 2 ** 31 - 1 } });
  writeBackup(host.at(`${BACKUPS}/20290101T000000Z`));
  t.match(await thrownBy(run(create)), {
    kind: 'fatal',
    code: 'backup-no-space',
    message: /found \d+ MiB free/,
  });
  t.strictSame(readdirSync(host.at(BACKUPS)), ['20290101T000000Z']);
});

t.test('a backup larger than the share of the disk is refused', async (t) => {
  const { host, run, etcd } = await backupHost(t, { settings: { backupDiskSharePercent: 1e-12 } });
  etcd.state.dbSize = 4 * 2 ** 20;
  t.match(await thrownBy(run(create)), {
    kind: 'fatal',
    code: 'backup-no-space',
    message: /larger than the share .*found 4 MiB/,
  });
  t.strictSame(readdirSync(host.at(BACKUPS)), []);
});

t.test('backups beyond the limits are deleted, the newest complete one is not', async (t) => {
  const { host, run, holds } = await backupHost(t, {
    settings: { backupKeepCount: 2, backupKeepDays: 1e6 },
  });
  for (const day of ['01', '02', '03']) writeBackup(host.at(`${BACKUPS}/202901${day}T000000Z`));
  host.write(`${BACKUPS}/20290102T000000Z/etcd-snapshot.db`, 'damaged by its size');
  t.equal(await holds(prune), false);
  t.match(await run(prune), { note: 'deleted 20290102T000000Z' });
  t.equal(await holds(prune), true);
  t.strictSame(readdirSync(host.at(BACKUPS)), ['20290101T000000Z', '20290103T000000Z']);
});

t.test('neither backups of a newer version nor copies under way are deleted', async (t) => {
  const { host, run, holds } = await backupHost(t, { settings: { backupKeepCount: 1 } });
  host.write(`${BACKUPS}/20200101T000000Z/manifest.json`, '{"schemaVersion":2}');
  host.write(`${BACKUPS}/.20200102T000000Z/etcd-snapshot.db`, 'copied so far');
  await run(create);
  t.equal(await holds(prune), true);
  t.match(await run(prune), { note: 'none was due' });
  const kept = readdirSync(host.at(BACKUPS));
  t.strictSame(kept.slice(0, 2), ['.20200102T000000Z', '20200101T000000Z']);
  t.equal(kept.length, 3);
});
