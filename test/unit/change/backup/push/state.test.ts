/** What is known of the backups that have left a host. */
import t from 'tap';
import {
  type PushState,
  readPushState,
  writePushState,
} from '../../../../../lib/change/backup/push/state.ts';
import { DAMAGE } from '../../../agents/damage.ts';
import { testHost } from '../../../agents/host/host.ts';

const FOLDER = '/var/lib/sno-agents/sno-backup-push';
const at = '2030-01-02T03:04:05.000Z';
const state: PushState = {
  ...{ schemaVersion: 1, target: 'a'.repeat(64) },
  stored: { name: 'x', at, url: 'https://store.example.com/x.age', bytes: 8, sha256: 'b' },
  failed: { since: at, at, name: 'y', what: 'no answer' },
};

t.test('it is what was written, in a folder of root', async (t) => {
  const host = testHost(t);
  t.equal(await readPushState(host.paths), undefined, 'nothing was tried');
  await writePushState(host.paths, state);
  t.strictSame(await readPushState(host.paths), state);
  t.ok(host.has(`${FOLDER}/state.json`));
  t.equal(host.mode(FOLDER), 0o700);
});

t.test('a damaged one counts as none: the newest backup is sent again', async (t) => {
  for (const [what, damage] of Object.entries(DAMAGE)) {
    const host = testHost(t);
    damage(host, `${FOLDER}/state.json`);
    t.equal(await readPushState(host.paths), undefined, what);
  }
});
