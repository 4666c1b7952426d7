/** A portable backup becomes one of the backups of a host. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { importBackup } from '../../../../lib/change/backup/portable/import.ts';
import { listBackups } from '../../../../lib/change/backup/store.ts';
import { verifyBackup } from '../../../../lib/change/backup/verify.ts';
import { ownUser } from '../../../../lib/host/process.ts';
import { isSealed, KEY_BYTES } from '../../../../lib/secrets/seal/envelope.ts';
import { readSecret } from '../../../../lib/secrets/seal/files.ts';
import { cluster } from '../../agents/host/cluster.ts';
import { testHost } from '../../agents/host/host.ts';
import { thrownBy } from '../../base/errors/thrown-by.ts';
import { killedAtAnyMoment, waitsForEachEffect } from '../../engine/steps/killed-at-any-moment.ts';
import { diskOf } from '../../host/disk-of.ts';
import { BY_HOST, KEY, KEY_FILE, portableBackup } from './portable-backup.ts';

const BACKUPS = '/var/lib/sno-agents/backups';
/** By the time in the manifest. */
const NAME = '20300102T030405Z';
const { signal } = new AbortController();
const expected = { clusterId: cluster.clusterId, owner: ownUser(), signal };

async function importingHost(t: Test, files?: Readonly<Record<string, string>>) {
  const { to, identity } = await portableBackup(t, undefined, files);
  const host = testHost(t, { settings: { backupMinFreeMiB: 0.001 } });
  host.write('/key.txt', identity, 0o600);
  const options = { backup: to, identity: host.at('/key.txt'), author: BY_HOST };
  const run = (more: object = {}, until = signal) =>
    importBackup({ ...host.context, ...more }, options, until);
  return { host, to, run };
}

t.test('it is a backup like those of the host itself', async (t) => {
  const { host, run } = await importingHost(t);
  const { name, header } = await run();
  t.equal(name, NAME);
  t.equal(header.renderInput.host.hostname, 'edge-0');
  const folder = host.at(`${BACKUPS}/${NAME}`);
  t.match(await verifyBackup(folder, expected), { clusterId: cluster.clusterId });
  t.equal(readFileSync(join(folder, KEY_FILE), 'utf8'), KEY);
  t.equal(host.mode(folder), 0o700);
  t.equal(host.mode(`${folder}/host`), 0o700);
  for (const file of ['manifest.json', 'etcd-snapshot.db', KEY_FILE])
    t.equal(host.mode(join(folder, file)), 0o600, file);
});

t.test(
  'a sealed host seals the copies of keys, and the manifest is of what is stored',
  async (t) => {
    const { host, run } = await importingHost(t);
    host.write('/var/lib/sno-agents/sealed/key.cred', 'a credential', 0o600);
    host.write('/run/sno-agents/sealed/key', Buffer.alloc(KEY_BYTES, 7), 0o600);
    await run();
    const folder = host.at(`${BACKUPS}/${NAME}`);
    t.ok(await verifyBackup(folder, expected));
    t.ok(isSealed(readFileSync(join(folder, KEY_FILE))));
    t.equal(await readSecret(host.paths, join(folder, KEY_FILE), KEY_FILE.slice(4)), KEY);
    t.notOk(isSealed(readFileSync(join(folder, 'etcd-snapshot.db'))), 'the database is none');
  },
);

t.test('a database is larger than any key may be', async (t) => {
  const large = { 'etcd-snapshot.db': 'x'.repeat(2 ** 20 + 1) };
  const { host, run } = await importingHost(t, large);
  const { name } = await run();
  t.ok(await verifyBackup(host.at(`${BACKUPS}/${name}`), expected));
});

t.test('there has to be room for all of its files', async (t) => {
  const { host, run } = await importingHost(t);
  const needed = `a snapshot${KEY}`.length + host.context.settings.backupMinFreeMiB * 2 ** 20;
  let free = needed - 1;
  diskOf(t, () => ({ free }));
  t.match(await thrownBy(run()), { code: 'backup-no-space' });
  free = needed;
  t.equal((await run()).name, NAME);
});

t.test('nothing is left of one that cannot be used', async (t) => {
  // Several pieces of age: the first ones are right.
  const large = { 'etcd-snapshot.db': 'x'.repeat(2 ** 18) };
  const { host, to, run } = await importingHost(t, large);
  const elsewhere = { cluster: { ...cluster, clusterId: 'another' } };
  t.match(await thrownBy(run(elsewhere)), {
    kind: 'usage',
    message: /backup of another cluster; expected another; found 6f0c8f0e/,
  });
  t.notOk(host.has(BACKUPS), 'it is refused first');
  const full = { settings: { ...host.context.settings, backupMinFreeMiB: 2 ** 31 - 1 } };
  t.match(await thrownBy(run(full)), { kind: 'fatal', code: 'backup-no-space' });
  t.strictSame(readdirSync(host.at(BACKUPS)), []);
  const whole = readFileSync(to);
  writeFileSync(to, whole.subarray(0, whole.length - 1));
  await waitsForEachEffect(t, async () => {
    t.match(await thrownBy(run()), { kind: 'usage', code: 'backup-unusable' });
  });
  t.strictSame(readdirSync(host.at(BACKUPS)), [], 'what was read before its end, too');
  host.remove('/key.txt');
  t.match(await thrownBy(run()), { kind: 'usage', message: /--identity/ });
});

t.test('whoever is told to stop waits for no program that would write the identity', async (t) => {
  const { host, run } = await importingHost(t);
  host.remove('/key.txt');
  execFileSync('mkfifo', [host.at('/key.txt')]);
  const stopped = AbortSignal.abort(new Error('told to stop'));
  t.match(await thrownBy(run({}, stopped)), { message: /^told to stop$/ });
});

t.test('interrupted at any moment, there is one complete backup afterwards', async (t) => {
  await killedAtAnyMoment(t, {
    /** One of the same name is there, and what an earlier attempt left. */
    async prepare() {
      const it = await importingHost(t);
      mkdirSync(it.host.at(BACKUPS), { recursive: true, mode: 0o700 });
      it.host.write(`${BACKUPS}/${NAME}/x`, 'damaged');
      it.host.write(`${BACKUPS}/.import/etcd-snapshot.db`, 'half of it');
      chmodSync(it.host.at(BACKUPS), 0o700);
      return it;
    },
    run: ({ run }) => run(),
    async allowed({ host }, when) {
      for (const { name, state, bytes } of await listBackups(host.paths))
        t.ok(state === 'complete' || host.has(`${BACKUPS}/${name}/x`), `${when}: ${bytes}`);
    },
    async result({ host }) {
      const folder = host.at(`${BACKUPS}/${NAME}`);
      return { names: readdirSync(host.at(BACKUPS)), is: await verifyBackup(folder, expected) };
    },
    least: 15,
    isDurable: true,
  });
});
