/** What the list of backups says of each, whatever is in its folder. */
import { appendFileSync, rmSync } from 'node:fs';
import t from 'tap';
import { SCHEMA_VERSION } from '../../../../lib/change/backup/manifest.ts';
import { listBackups, newestBackup } from '../../../../lib/change/backup/store.ts';
import { DAMAGE } from '../../agents/damage.ts';
import { testHost } from '../../agents/host/host.ts';
import { writeBackup } from './backup-folder.ts';

const FOLDER = '/var/lib/sno-agents/backups';
const [WHOLE, DAMAGED] = ['20300101T000000Z', '20300102T000000Z'];

t.test('one that is damaged hides no other, and is not the newest', async (t) => {
  for (const [what, damage] of Object.entries(DAMAGE)) {
    const host = testHost(t);
    for (const name of [WHOLE, DAMAGED]) writeBackup(host.at(`${FOLDER}/${name}`));
    rmSync(host.at(`${FOLDER}/${DAMAGED}/manifest.json`));
    damage(host, `${FOLDER}/${DAMAGED}/manifest.json`);
    const all = await listBackups(host.paths);
    t.match(
      all,
      [
        { name: WHOLE, at: '2030-01-01T00:00:00.000Z', state: 'complete', bytes: 10, revision: 70 },
        { name: DAMAGED, state: 'damaged', bytes: 0, problem: /./ },
      ],
      what,
    );
    t.equal(newestBackup(all)?.name, WHOLE, what);
  }
});

t.test('a file of another size, and one that is missing', async (t) => {
  const host = testHost(t);
  for (const name of [WHOLE, DAMAGED]) writeBackup(host.at(`${FOLDER}/${name}`));
  appendFileSync(host.at(`${FOLDER}/${WHOLE}/etcd-snapshot.db`), 'x');
  host.remove(`${FOLDER}/${DAMAGED}/etcd-snapshot.db`);
  const all = await listBackups(host.paths);
  t.match(all, [
    { state: 'damaged', problem: /etcd-snapshot\.db has 11 instead of 10/ },
    { state: 'damaged', problem: /no such file/ },
  ]);
  t.equal(newestBackup(all), undefined);
});

t.test('one of a later schema is not judged; there was none before the first', async (t) => {
  const host = testHost(t);
  const later = SCHEMA_VERSION + 1;
  host.write(`${FOLDER}/${WHOLE}/manifest.json`, JSON.stringify({ schemaVersion: later }));
  host.write(`${FOLDER}/${DAMAGED}/manifest.json`, '{"schemaVersion":0}');
  t.match(await listBackups(host.paths), [
    { state: 'newer', bytes: 0, problem: new RegExp(`schemaVersion ${later}`) },
    { state: 'damaged' },
  ]);
});
