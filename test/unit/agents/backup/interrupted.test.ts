import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import t, { type Test } from 'tap';
import { rebuild } from '../../../../agents/steps/restore/rebuild.ts';
import { replace } from '../../../../agents/steps/restore/replace.ts';
import { prune } from '../../../../agents/upkeep/backup/prune.ts';
import { concludeRestore } from '../../../../agents/upkeep/backup/restore/conclude.ts';
import { deleteBackups, listBackups } from '../../../../lib/change/backup/store.ts';
import { restoreChange } from '../../../../lib/change/restore/request.ts';
import { writeBackup } from '../../change/backup/backup-folder.ts';
import { killedAtAnyMoment } from '../../engine/steps/killed-at-any-moment.ts';
import {
  BACKUPS,
  backupHost,
  database,
  ENCRYPTION,
  providers,
  REPLACED,
  restoringHost,
} from './backup-host.ts';
import {
  databases,
  filesIn,
  holdsFormer,
  isRunning,
  movedFile,
  REBUILT,
  SAVED,
  STATE,
} from './interrupted-host.ts';

const KEY = '/etc/kubernetes/pki/ca/etcd/ca.key';

/** A host whose Secrets are encrypted with another key since the backup, and that lacks a key that the backup has. */
async function changedSince(t: Test) {
  const restoring = await restoringHost(t);
  writeBackup(restoring.folder, {
    [`host${ENCRYPTION}`]: providers('older'),
    [`host${KEY}`]: 'the key of etcd',
  });
  return restoring;
}

t.test('rebuild, interrupted: the database in use is not touched', async (t) => {
  await killedAtAnyMoment(t, {
    prepare: () => restoringHost(t),
    run: ({ run }) => run(rebuild),
    allowed({ host }, when) {
      t.ok(holdsFormer(host, '/var/lib/etcd') && isRunning(host), when);
      t.ok(!host.has(REBUILT) || host.has(`${REBUILT}/member/restored.json`), `${when}: whole`);
    },
    result: ({ host }) => ({
      databases: databases(host),
      rebuilt: host.read(`${REBUILT}/member/snap/db`),
    }),
    least: 8,
    isDurable: true,
  });
});

t.test('replace, interrupted: a database from before is never lost nor overwritten', async (t) => {
  await killedAtAnyMoment(t, {
    async prepare() {
      const it = await changedSince(t);
      it.host.write(`${REBUILT}/member/snap/db`, 'a snapshot');
      return it;
    },
    run: ({ run }) => run(replace),
    allowed({ host }, when) {
      t.ok(holdsFormer(host, REPLACED) || holdsFormer(host, '/var/lib/etcd'), when);
      t.match(host.read(ENCRYPTION), /present/, `${when}: the Secrets of now can be read`);
      const isAdded = host.read(ENCRYPTION) !== providers('present');
      t.ok(!isAdded || host.has(SAVED), `${when}: the configuration from before is kept`);
      const isRestored = host.has('/var/lib/etcd') && !holdsFormer(host, '/var/lib/etcd');
      t.ok(!isRestored || (isAdded && host.has(KEY)), `${when}: never without its keys`);
    },
    result: async ({ host, context, holds }) => ({
      holds: await holds(replace),
      hadNone: (await restoreChange.read(context.paths))?.replacedNothing,
      databases: databases(host),
      database: database(host),
      encryption: [host.read(ENCRYPTION), host.mode(ENCRYPTION)],
      saved: [host.read(SAVED), host.mode(SAVED)],
      key: [host.read(KEY), host.mode(KEY), host.mode(dirname(KEY))],
    }),
    least: 20,
    isDurable: true,
  });
});

t.test(
  'prune, interrupted: what is deleted does not come back, and the newest stays',
  async (t) => {
    const [old, older, newest] = ['20300101T000000Z', '20300102T000000Z', '20300103T000000Z'];
    await killedAtAnyMoment(t, {
      async prepare() {
        const it = await backupHost(t, { settings: { backupKeepCount: 1 } });
        for (const name of [old, older, newest]) writeBackup(it.host.at(`${BACKUPS}/${name}`));
        return it;
      },
      run: ({ run }) => run(prune),
      async allowed({ host }, when) {
        const kept = (await listBackups(host.paths)).find(({ name }) => name === newest);
        t.equal(kept?.state, 'complete', when);
      },
      result: async ({ host, holds }) => [await holds(prune), readdirSync(host.at(BACKUPS))],
      least: 3,
      isDurable: true,
    });
  },
);

t.test('a backup that somebody else has deleted keeps none of the others', async (t) => {
  const { host } = await backupHost(t);
  const [gone, there] = ['20300101T000000Z', '20300102T000000Z'];
  writeBackup(host.at(`${BACKUPS}/${there}`));
  await deleteBackups(host.paths, [gone, there]);
  t.strictSame(readdirSync(host.at(BACKUPS)), []);
});

t.test('conclude, interrupted: whoever waits for the end finds its result', async (t) => {
  await killedAtAnyMoment(t, {
    async prepare() {
      const { host, ...others } = await restoringHost(t, { settings: { restoreKeepCount: 1 } });
      for (const day of [1, 2]) host.write(`/var/lib/etcd.replaced-2030010${day}T000000Z/x`);
      for (const left of [movedFile('etcd'), SAVED, `${STATE}/restarts.json`]) host.write(left);
      return { host, ...others };
    },
    // The unit starts only while there is a request.
    run: async ({ run, holds }) =>
      void ((await holds(concludeRestore)) || (await run(concludeRestore))),
    async allowed({ context: { paths } }, when) {
      const hasEnded = (await restoreChange.read(paths)) === undefined;
      t.ok(!hasEnded || (await restoreChange.last(paths)) !== undefined, when);
    },
    result: async ({ host, context }) => ({
      databases: databases(host),
      state: filesIn(host, STATE),
      hasEnded: (await restoreChange.read(context.paths)) === undefined,
    }),
    least: 8,
    isDurable: true,
  });
});
