/** When an update makes a backup, and when its way back needs the database of it. */
import t from 'tap';
import { armUpdate } from '../../../../agents/upkeep/update/arm.ts';
import { backup } from '../../../../agents/upkeep/update/backup.ts';
import {
  type UpdateContext,
  updateContext,
  updateContextOf,
} from '../../../../agents/upkeep/update/context.ts';
import { prepare } from '../../../../agents/upkeep/update/prepare.ts';
import { stageUpdate } from '../../../../agents/upkeep/update/stage.ts';
import type { ChangeStep } from '../../../../lib/change/or-back.ts';
import { updateChange } from '../../../../lib/change/update/request.ts';
import { thrownBy } from '../../base/errors/thrown-by.ts';
import { writeBackup } from '../../change/backup/backup-folder.ts';
import { cluster } from '../host/cluster.ts';
import {
  BACKUPS,
  EARLIER_BACKUP,
  ID,
  OWN_BACKUP,
  PREPARED,
  PREPARED_ADD_ON,
  program,
  TRIAL,
  updating,
} from './updating-host.ts';

const ETCD = { kubernetes: 'v1.34.5', etcd: 'v3.5.21' };

t.test('another minor version of etcd has the database as a point of return', async (t) => {
  const it = await updating(t);
  const request = { ...it.context.request, before: ETCD };
  const context = updateContextOf(it.context, request, [EARLIER_BACKUP]);
  const run = (step: ChangeStep<UpdateContext>) => step.run(context, it.host.progress());
  writeBackup(it.host.at(`${BACKUPS}/${EARLIER_BACKUP}`));
  await run(stageUpdate);
  await run(prepare);
  const isBackedUp = () => backup.holds(context, it.host.progress());
  t.notOk(await isBackedUp(), 'that of before the request lacks what was written since');
  await t.rejects(run(armUpdate), { kind: 'fatal', message: /no backup of etcd to go back to/ });
  t.notOk(it.host.has(TRIAL), 'without one it does not begin');

  // Of an attempt that was interrupted, and of one that is not complete.
  const etcd = { version: '3.5.21', revision: 60, totalKey: 8 };
  writeBackup(it.host.at(`${BACKUPS}/20300102T010405Z`), {}, { etcd });
  writeBackup(it.host.at(`${BACKUPS}/${OWN_BACKUP}`));
  writeBackup(it.host.at(`${BACKUPS}/20300102T040405Z`));
  it.host.write(`${BACKUPS}/20300102T040405Z/etcd-snapshot.db`, 'torn');
  t.ok(await isBackedUp());
  await run(armUpdate);
  t.equal(JSON.parse(it.host.read(TRIAL)).points.database, OWN_BACKUP);
});

t.test('after a restart, the backup of the update is still told from those before', async (t) => {
  const it = await updating(t);
  it.host.write('/etc/sno-agents/cluster.json', JSON.stringify(cluster), 0o600);
  const [before, after] = ['20300101T235959Z', '20300102T000000Z'];
  for (const name of [EARLIER_BACKUP, before, after, OWN_BACKUP])
    writeBackup(it.host.at(`${BACKUPS}/${name}`));
  const context = await updateContext(it.host.paths);
  t.same(context.request, it.context.request);
  t.same([context.run, context.earlier], [ID, [EARLIER_BACKUP, before]]);
  await updateChange.remove(it.host.paths);
  t.match(await thrownBy(updateContext(it.host.paths)), {
    kind: 'usage',
    message: /no update was requested.*sno-update run --from/,
  });
});

t.test(
  'one from before that a clock ahead has dated later is not that of the update',
  async (t) => {
    const it = await updating(t);
    it.host.write('/etc/sno-agents/cluster.json', JSON.stringify(cluster), 0o600);
    const ahead = '20350101T030405Z';
    writeBackup(it.host.at(`${BACKUPS}/${ahead}`));
    await updateChange.write(it.host.paths, { ...it.context.request, backups: [ahead] });
    for (const name of [EARLIER_BACKUP, OWN_BACKUP]) writeBackup(it.host.at(`${BACKUPS}/${name}`));
    const { earlier } = await updateContext(it.host.paths);
    t.same(earlier, [EARLIER_BACKUP, ahead], 'nor one that was being made then');
  },
);

const BACKED_UP: readonly (readonly [why: string, prepared: object, before: typeof ETCD])[] = [
  ['of add-ons', PREPARED_ADD_ON, { kubernetes: 'v1.34.4', etcd: 'v3.6.8' }],
  ['to another minor version of Kubernetes', PREPARED, { kubernetes: 'v1.33.9', etcd: 'v3.6.8' }],
];
for (const [why, prepared, before] of BACKED_UP) {
  t.test(`an update ${why} makes a backup, and goes back without it`, async (t) => {
    const it = await updating(t, { text: program(prepared) });
    const context = updateContextOf(it.context, { ...it.context.request, before }, []);
    for (const step of [stageUpdate, prepare]) await step.run(context, it.host.progress());
    t.notOk(await backup.holds(context, it.host.progress()));
    writeBackup(it.host.at(`${BACKUPS}/${OWN_BACKUP}`));
    t.ok(await backup.holds(context, it.host.progress()));
    await armUpdate.run(context, it.host.progress());
    t.equal(JSON.parse(it.host.read(TRIAL)).points.database, undefined);
  });
}

t.test('without add-ons that change, no backup is made', async (t) => {
  const it = await updating(t);
  for (const step of [stageUpdate, prepare]) await it.run(step);
  t.ok(await it.holds(backup));
  t.same(await it.run(backup), { kind: 'done', note: 'the database does not change' });
});
