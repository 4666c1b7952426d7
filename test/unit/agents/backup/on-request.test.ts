/** A backup that a person or another agent asks for: its name, or why there is none. And the table of all. */
import { mock } from 'node:test';
import t from 'tap';
import { backUpNow } from '../../../../agents/steps/backup/on-request.ts';
import { backupTable } from '../../../../agents/upkeep/backup/table.ts';
import { describeError, Failure } from '../../../../lib/base/errors/failure.ts';
import { failureData } from '../../../../lib/base/errors/failure-data.ts';
import type { BackupList } from '../../../../lib/change/backup/store.ts';
import { thrownBy } from '../../base/errors/thrown-by.ts';
import { writeBackup } from '../../change/backup/backup-folder.ts';
import { testHost } from '../host/host.ts';
import { BACKUPS, NAME } from './backup-host.ts';

const LATER = '20300103T030405Z';

t.test('the new backup is the one that was not there before, and that is complete', async (t) => {
  const host = testHost(t);
  writeBackup(host.at(`${BACKUPS}/${NAME}`));
  const made = host.at(`${BACKUPS}/${LATER}`);
  writeBackup(`${host.at(BACKUPS)}.made`);
  host.programs.give('systemctl', `[ "$1" = start ] && mv "$ROOT${BACKUPS}.made" ${made}; exit 0`);
  t.equal(await backUpNow(host.paths), LATER);
  t.same(host.programs.calls('systemctl'), [
    'systemctl reset-failed sno-backup.service',
    'systemctl start sno-backup.service',
  ]);
});

t.test('without one, the reason is that of the agent, for programs too', async (t) => {
  const host = testHost(t);
  writeBackup(host.at(`${BACKUPS}/${NAME}`));
  host.programs.give('systemctl', 'exit 1');
  const none = {
    kind: 'retry',
    code: 'unavailable',
    message: /no backup was made\. See "journalctl/,
  };
  t.match(await thrownBy(backUpNow(host.paths)), none, 'nothing is known');
  const failure = new Failure('fatal', 'the disk is full', { code: 'backup-no-space' });
  host.write(
    '/run/sno-agents/sno-backup/status.json',
    JSON.stringify({
      ...{ schemaVersion: 1, agent: 'sno-backup', version: '1', unit: 'sno-backup' },
      ...{ state: 'failed', failure: failureData(failure) },
      ...{ started: '2030-01-01T00:00:00Z', updated: '2030-01-01T00:00:00Z' },
    }),
  );
  t.match(await thrownBy(backUpNow(host.paths)), {
    kind: 'fatal',
    code: 'backup-no-space',
    details: { cause: { what: 'the disk is full' } },
  });
  host.write('/torn/manifest.json', 'torn');
  host.programs.give(
    'systemctl',
    `[ "$1" = start ] && mv "$ROOT/torn" "$ROOT${BACKUPS}/${LATER}"; exit 1`,
  );
  t.match(await thrownBy(backUpNow(host.paths)), { code: 'backup-no-space' }, 'a damaged one');
  mock.timers.enable({ apis: ['Date'], now: Date.parse('2030-01-01T00:00:00Z') });
  t.teardown(() => mock.timers.reset());
  t.match(await thrownBy(backUpNow(host.paths)), { code: 'backup-no-space' }, 'at once');
});

t.test(
  'an agent that was not started: systemd says why, and an earlier failure is not told',
  async (t) => {
    const host = testHost(t);
    host.programs.give(
      'systemctl',
      `[ "$1" = start ] || exit 0
echo 'Unit sno-backup.service not found.' >&2
exit 5`,
    );
    host.write(
      '/run/sno-agents/sno-backup/status.json',
      JSON.stringify({
        ...{ schemaVersion: 1, agent: 'sno-backup', version: '1', unit: 'sno-backup' },
        ...{ state: 'failed', failure: failureData(new Failure('fatal', 'the disk was full')) },
        ...{ started: '2020-01-01T00:00:00Z', updated: '2020-01-01T00:00:00Z' },
      }),
    );
    const failure = await thrownBy(backUpNow(host.paths));
    t.match(describeError(failure), /no backup was made.*Unit sno-backup\.service not found/s);
    t.notMatch(describeError(failure), /the disk was full/);
  },
);

t.test('the table has what each backup is, or why it is none', (t) => {
  const list = (...backups: BackupList['backups']): BackupList => ({
    ...{ schemaVersion: 1, hostname: 'edge-0', at: '2030-01-01T00:00:00Z', folder: BACKUPS },
    backups,
  });
  t.equal(backupTable(list()), `no backup in ${BACKUPS}\n`);
  const at = '2030-01-02T03:04:05Z';
  const table = backupTable(
    list(
      { name: NAME, at, state: 'complete', bytes: 2 ** 20 + 1, revision: 70, version: '1.2.3' },
      { name: LATER, at, state: 'damaged', bytes: 0, problem: 'no manifest' },
      { name: 'another', at, state: 'newer', bytes: 1 },
    ),
  );
  t.same(
    table.split('\n').map((line) => line.trim().split(/ {2,}/)),
    [
      ['NAME', 'STATE', 'SIZE', 'REVISION', 'VERSION'],
      [NAME, 'complete', '2 MiB', '70', '1.2.3'],
      [LATER, 'damaged', '0 MiB', '-', 'no manifest'],
      ['another', 'newer', '1 MiB', '-', '-'],
      [''],
    ],
  );
  t.end();
});
