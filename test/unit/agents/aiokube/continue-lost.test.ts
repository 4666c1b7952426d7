import { linkSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { continueLost } from '../../../../agents/aiokube/continue-lost.ts';
import { complete } from '../../../../agents/steps/complete.ts';
import { archiveOf } from '../../../../lib/change/backup/portable/write.ts';
import { verifyBackup } from '../../../../lib/change/backup/verify.ts';
import { lostHostText } from '../../../../lib/change/identity/lost-host.ts';
import { identityChange } from '../../../../lib/change/identity/request.ts';
import { recordPath } from '../../../../lib/engine/agents/records.ts';
import type { HostPaths } from '../../../../lib/host/paths.ts';
import { ownUser } from '../../../../lib/host/process.ts';
import { saveRenderInput } from '../../../../lib/render/render-input.ts';
import { isSealed } from '../../../../lib/secrets/seal/envelope.ts';
import { readSecret } from '../../../../lib/secrets/seal/files.ts';
import { sealPlaces } from '../../../../lib/secrets/seal/places.ts';
import { writeBackup } from '../../change/backup/backup-folder.ts';
import { filesIn, headerOf, KEY, KEY_FILE } from '../../change/backup/portable-backup.ts';
import { input } from '../../render/rendered-host.ts';
import { cluster } from '../host/cluster.ts';
import { testHost } from '../host/host.ts';

const FOLDER = '/var/lib/sno-agents/lost-host';
const NAME = '20300102T030405Z';
const BACKUP = `/var/lib/sno-agents/backups/${NAME}`;
const { signal } = new AbortController();

/** A host named spare whose installation has ended, with what Ignition brought. */
async function spare(t: Test, { keepsAuthorities = false, clusterId = cluster.clusterId } = {}) {
  const it = testHost(t, { settings: { backupMinFreeMiB: 0.001 } });
  it.programs.give('systemctl', ':');
  await saveRenderInput(it.paths, {
    ...input,
    host: { ...input.host, hostname: 'spare', nodeIps: ['192.0.2.50'] },
  });
  const folder = join(t.testdir({ backup: {} }), 'backup');
  const { renderInput, ...rest } = headerOf(
    writeBackup(folder, { [KEY_FILE]: KEY }, { clusterId }),
  );
  const header = {
    ...rest,
    renderInput: { ...renderInput, cluster: { ...renderInput.cluster, clusterId } },
  };
  it.write(`${FOLDER}/request.json`, lostHostText({ keepsAuthorities }), 0o600);
  it.write(
    `${FOLDER}/backup.tar`,
    await buffer(archiveOf(header, filesIn(folder), undefined, signal)),
    0o600,
  );
  return it;
}

const verified = (path: string) =>
  verifyBackup(path, { clusterId: cluster.clusterId, owner: ownUser(), signal });

t.test('continue-lost-host', async (t) => {
  t.test('does nothing on a host that is installed for itself', async (t) => {
    const it = testHost(t);
    t.equal(await it.holds(continueLost), true);
    t.match(await it.run(continueLost), { kind: 'done', note: 'not needed' });
  });

  t.test('requests the restore, and starts it', async (t) => {
    const it = await spare(t);
    t.equal(await it.holds(continueLost), false, 'before');
    linkSync(it.at(`${FOLDER}/backup.tar`), it.at('/blocks'));
    t.match(await it.run(continueLost), { note: 'sno-identity restores its backup' });
    t.match(await identityChange.read(it.paths), {
      backup: NAME,
      from: { hostname: 'edge-0', nodeIps: ['192.0.2.10'] },
      to: { hostname: 'spare', nodeIps: ['192.0.2.50'] },
    });
    t.equal((await identityChange.read(it.paths))?.keepsAuthorities, undefined);
    t.match(await verified(it.at(BACKUP)), { files: { length: 2 } });
    t.same(it.programs.calls(), ['systemctl start --no-block sno-identity.service']);
    t.notOk(it.has(FOLDER));
    t.match(it.read('/blocks'), /^\0+$/, 'it had every key of the lost host');
    t.equal(await it.holds(continueLost), true, 'after');
  });

  t.test('with the authorities of the lost host', async (t) => {
    const it = await spare(t, { keepsAuthorities: true });
    await it.run(continueLost);
    t.equal((await identityChange.read(it.paths))?.keepsAuthorities, true);
  });

  for (const [when, path] of [
    ['goes on', identityChange.requestPath],
    ['has ended', (paths: HostPaths) => recordPath(paths, 'identity')],
  ] as const) {
    t.test(`is not requested twice: it ${when}`, async (t) => {
      const it = await spare(t);
      const before = readFileSync(it.at(`${FOLDER}/request.json`));
      const tar = readFileSync(it.at(`${FOLDER}/backup.tar`));
      await it.run(continueLost);
      const { id } = (await identityChange.read(it.paths)) ?? {};
      const text = it.read(identityChange.requestPath(it.paths));
      it.remove(identityChange.requestPath(it.paths));
      it.write(path(it.paths), text);
      // Killed before it deleted what Ignition wrote.
      it.write(`${FOLDER}/request.json`, before);
      it.write(`${FOLDER}/backup.tar`, tar);
      await it.run(continueLost);
      t.equal(JSON.parse(it.read(path(it.paths))).id, id);
      t.equal(it.has(identityChange.requestPath(it.paths)), when === 'goes on');
      t.notOk(it.has(FOLDER));
    });
  }

  t.test('a sealed host seals the copies of keys', async (t) => {
    const it = await spare(t);
    it.write(sealPlaces(it.paths).key, Buffer.alloc(32, 7), 0o600);
    await it.run(continueLost);
    const copy = it.at(`${BACKUP}/${KEY_FILE}`);
    t.ok(isSealed(readFileSync(copy)));
    t.equal(await readSecret(it.paths, copy, KEY_FILE.slice('host'.length)), KEY);
    await verified(it.at(BACKUP));
  });

  t.test('refuses the backup of another cluster, and one that is damaged', async (t) => {
    const other = await spare(t, { clusterId: '11111111-1111-4111-8111-111111111111' });
    t.match(await other.failureOf(continueLost), { kind: 'usage', message: /another cluster/ });
    const cut = await spare(t);
    cut.write(
      `${FOLDER}/backup.tar`,
      readFileSync(cut.at(`${FOLDER}/backup.tar`)).subarray(0, 3000),
    );
    t.match(await cut.failureOf(continueLost), { kind: 'usage', code: 'backup-unusable' });
    for (const it of [other, cut]) {
      t.equal(await identityChange.read(it.paths), undefined);
      t.ok(it.has(FOLDER), 'what Ignition wrote stays');
      t.same(it.programs.calls(), []);
    }
  });

  t.test('until then, nobody is told that the installation is complete', async (t) => {
    const it = await spare(t);
    t.match(await it.run(complete), { kind: 'done', note: /^not yet/ });
  });
});
