/** A backup counts as stored when it is, wherever the agent is interrupted. */
import { chmodSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { pushContext } from '../../../../agents/upkeep/backup-push/context.ts';
import { runBackupPush } from '../../../../agents/upkeep/backup-push/main.ts';
import { push } from '../../../../agents/upkeep/backup-push/push.ts';
import { readPushState } from '../../../../lib/change/backup/push/state.ts';
import { rotationChange } from '../../../../lib/change/rotation/request.ts';
import { sha256 } from '../../../../lib/host/files.ts';
import { authorityPaths } from '../../../../lib/render/kubernetes/authorities.ts';
import { saveRenderInput } from '../../../../lib/render/render-input.ts';
import { writeBackup } from '../../change/backup/backup-folder.ts';
import { ageKeys } from '../../change/backup/portable-backup.ts';
import { killedAtAnyMoment } from '../../engine/steps/killed-at-any-moment.ts';
import { input, textAt } from '../../render/rendered-host.ts';
import { cluster } from '../host/cluster.ts';
import { testHost } from '../host/host.ts';
import { writePayload } from '../host/payload.ts';
import { BACKUPS, NAME } from './backup-host.ts';

const FOLDER = '/var/lib/sno-agents/sno-backup-push';
const { recipient } = await ageKeys();
const TO = JSON.stringify({
  ...{ apiVersion: 'sno-agents/v1', kind: 'BackupTo', recipients: [recipient] },
  url: 'https://store.example.com/',
});
/** A store of one file: what its config says to upload, or that file again. */
const CURL = `upload=$(sed -n 's/^upload-file = "\\(.*\\)"$/\\1/p')
if [ -n "$upload" ]; then cp "$upload" "$ROOT/stored" && printf 201
else cat "$ROOT/stored" && printf 200 >&2; fi`;

async function host(t: Test) {
  const it = testHost(t, { settings: { backupMinFreeMiB: 1 } });
  const folder = it.at(join(BACKUPS, NAME));
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, 0o700);
  writeBackup(folder);
  it.write('/etc/sno-agents/cluster.json', JSON.stringify(cluster));
  it.write('/etc/sno-agents/backup-to.json', TO, 0o600);
  await saveRenderInput(it.paths, input);
  writePayload(it, '/var/lib/sno-agents/payload');
  const { key } = authorityPaths('admin');
  it.write(key, textAt(key), 0o600);
  it.programs.give('curl', CURL);
  return it;
}
type Host = Awaited<ReturnType<typeof host>>;

const contextOf = async ({ paths, context }: Host) => ({
  ...(await pushContext(paths)),
  settings: context.settings,
});
const isThere = (it: Host, digest: string) =>
  existsSync(it.at('/stored')) && sha256(readFileSync(it.at('/stored'))) === digest;

t.test('push, interrupted', async (t) => {
  await killedAtAnyMoment(t, {
    prepare: () => host(t),
    run: async (it) => push.run(await contextOf(it), it.progress()),
    async allowed(it, when) {
      const state = await readPushState(it.paths);
      if (state?.stored !== undefined) t.ok(isThere(it, state.stored.sha256), when);
      t.equal(state?.failed, undefined, when);
    },
    async result(it) {
      const { stored } = (await readPushState(it.paths)) ?? {};
      return {
        name: stored?.name,
        isThere: isThere(it, stored?.sha256 ?? ''),
        holds: await push.holds(await contextOf(it), it.progress()),
        left: it.has(`${FOLDER}/work`),
      };
    },
    least: 8,
  });
});

t.test('what is replaced while a backup is encrypted is in none that leaves', async (t) => {
  const it = await host(t);
  const context = await contextOf(it);
  const begun = it.paths.onHost(rotationChange.requestPath(it.paths));
  const to = {
    ...context.to,
    get recipients() {
      it.write(begun, '{}');
      return context.to.recipients;
    },
  };
  t.match(await push.run({ ...context, to }, it.progress()), { kind: 'not-yet' });
  t.notOk(it.has('/stored'));
  it.remove(begun);
  t.match(await push.run(context, it.progress()), { kind: 'done' });
});

t.test('told to stop, it has not failed: its timer starts it again', async (t) => {
  const it = await host(t);
  it.write('/etc/sno-agents/settings.json', '{"backupMinFreeMiB":1}');
  it.programs.give('curl', `kill -TERM ${process.pid}; exec sleep 60`);
  const output = { write: () => {}, isJournal: false };
  t.equal(await runBackupPush(it.paths, ['run'], output), 0);
  t.equal(it.programs.calls('curl').length, 1);
  t.equal(await readPushState(it.paths), undefined);
});

t.test('one that a clock ahead has dated later is not the newest for good', async (t) => {
  const it = await host(t);
  const pushed = async () => {
    await push.run(await contextOf(it), it.progress());
    return (await readPushState(it.paths))?.stored?.name;
  };
  const ahead = '20350101T030405Z';
  const made = (name: string, revision: number) => {
    const folder = it.at(join(BACKUPS, name));
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeBackup(folder, {}, { etcd: { version: '3.6.0', revision, totalKey: 8 } });
  };
  made(ahead, 80);
  t.equal(await pushed(), ahead);
  made('20300103T030405Z', 90);
  t.equal(await pushed(), '20300103T030405Z', 'revisions only increase');
});
