/** What sno-backup does with a running etcd. */
import { appendFileSync } from 'node:fs';
import t from 'tap';
import { runBackup } from '../../../../agents/upkeep/backup/main.ts';
import { backupList } from '../../../../lib/change/backup/store.ts';
import { journalPath } from '../../../../lib/engine/steps/agent-command.ts';
import { readJournal } from '../../../../lib/engine/steps/journal.ts';
import { bootMoment } from '../../../../lib/host/boot.ts';
import { cluster } from '../host/cluster.ts';
import { BACKUPS, backupHost } from './backup-host.ts';

t.test('sno-backup compact', async (t) => {
  const { host, etcd } = await backupHost(t);
  etcd.giveAccess(host);
  const printed: string[] = [];
  const errors: string[] = [];
  t.capture(process.stderr, 'write', (text: string) => errors.push(text) > 0);
  host.write('/etc/sno-agents/cluster.json', JSON.stringify(cluster));
  const compact = () =>
    runBackup(host.paths, ['compact'], { write: (text) => void printed.push(text) });
  etcd.state.dbSize = 3 * 2 ** 20;
  t.equal(await compact(), 0, errors.join(''));
  t.equal(printed.splice(0).join(''), "etcd's database had 3.0 MiB and has 1.0 MiB\n");
  etcd.state.alarms = ['NOSPACE'];
  etcd.state.dbSizeQuota = 8 * 2 ** 20;
  t.equal(await compact(), 0);
  t.equal(
    printed.splice(0).join(''),
    "etcd's database had 1.0 MiB and has 1.0 MiB of at most 8.0 MiB; the alarm NOSPACE is taken back\n",
  );
  t.strictSame(etcd.calls.slice(-3), ['compact 12 physically', 'defragment', 'disarm NOSPACE']);
  host.write('/var/lib/sno-agents/sno-rotate/request.json', '{}');
  etcd.calls.splice(0);
  t.equal(await compact(), 2);
  t.match(errors.join(''), /a rotation of CAs or keys is under way/);
  t.strictSame(etcd.calls, []);
});

t.test(
  'sno-backup makes a backup as its timer starts it, and says how many there are',
  async (t) => {
    const { host, etcd } = await backupHost(t);
    etcd.giveAccess(host);
    host.write('/etc/sno-agents/cluster.json', JSON.stringify(cluster));
    host.write('/etc/sno-agents/settings.json', '{"backupMinFreeMiB":0.001}');
    t.equal(await runBackup(host.paths, ['run'], { write: () => {}, isJournal: false }), 0);
    const [backup, ...others] = (await backupList(host.paths)).backups;
    t.match([backup, others], [{ state: 'complete', revision: 70 }, []]);
    const metrics = host.read('/var/lib/sno-agents/metrics/sno-backup.prom');
    t.match(metrics, 'sno_backups{state="complete"} 1\n');
  },
);

t.test('a run that is killed takes nothing of the time of the next one', async (t) => {
  const { host, etcd } = await backupHost(t);
  etcd.giveAccess(host);
  host.write('/etc/sno-agents/cluster.json', JSON.stringify(cluster));
  host.write('/etc/sno-agents/settings.json', '{"backupMinFreeMiB":0.001}');
  const run = () => runBackup(host.paths, ['run'], { write: () => {}, isJournal: false });
  t.equal(await run(), 0);
  const path = journalPath(host.paths, 'sno-backup');
  const { boot, up } = await bootMoment();
  for (const entry of (await readJournal(path)).filter(({ event }) => event === 'done')) {
    const killed = { ...entry, event: 'started', boot, up: up - 86_400 };
    appendFileSync(path, `${JSON.stringify(killed)}\n`);
  }
  host.remove(BACKUPS);
  t.equal(await run(), 0);
});
