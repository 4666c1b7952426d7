/** A backup is stored and read back within one deadline. The answers of real stores: the integration test. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parseBackupTo } from '../../../../../lib/change/backup/push/read-backup-to.ts';
import { storeFile } from '../../../../../lib/change/backup/push/store.ts';
import { sha256 } from '../../../../../lib/host/files.ts';
import { testHost } from '../../../agents/host/host.ts';
import { thrownBy } from '../../../base/errors/thrown-by.ts';
import { ageKeys } from '../portable-backup.ts';

const { recipient } = await ageKeys();
const to = parseBackupTo(
  JSON.stringify({
    ...{ apiVersion: 'sno-agents/v1', kind: 'BackupTo', recipients: [recipient] },
    url: 'https://store.example.com/',
  }),
  'backup-to.json',
);
const DEADLINE_MS = 60_000;

t.test('reading it back has what storing it has left of the deadline', async (t) => {
  const host = testHost(t);
  const path = join(host.root, 'edge-0.age');
  writeFileSync(path, 'a backup');
  const file = { path, bytes: 8, sha256: sha256('a backup') };
  host.programs.give(
    'curl',
    "if grep -q upload-file; then printf 201; else sleep 1; printf 'a backup'; printf 200 >&2; fi",
  );
  const { now } = performance;
  const isStored = () => host.programs.calls('curl').length > 0;
  t.capture(performance, 'now', () => now.call(performance) + (isStored() ? DEADLINE_MS - 50 : 0));
  const { signal } = new AbortController();
  const options = { signal, deadlineMs: DEADLINE_MS, work: host.at('/work') };
  t.match(await thrownBy(storeFile(to, 'edge-0.age', file, options)), { kind: 'retry' });
  t.equal(host.programs.calls('curl').length, 2);
});

t.test('only statuses of success are one', async (t) => {
  const host = testHost(t);
  const path = join(host.root, 'edge-0.age');
  writeFileSync(path, 'a backup');
  const file = { path, bytes: 8, sha256: sha256('a backup') };
  const { signal } = new AbortController();
  const options = { signal, deadlineMs: DEADLINE_MS, work: host.at('/work') };
  for (const [status, isStored] of [
    [200, true],
    [299, true],
    [300, false],
  ] as const) {
    const read = "printf 'a backup'; printf 200 >&2";
    host.programs.give('curl', `if grep -q upload-file; then printf ${status}; else ${read}; fi`);
    const stored = storeFile(to, 'edge-0.age', file, options);
    if (isStored) await stored;
    else t.match(await thrownBy(stored), { kind: 'fatal', message: /found status 300/ });
  }
});
