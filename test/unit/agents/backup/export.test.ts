import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { exportBackup } from '../../../../agents/steps/backup/export.ts';
import { readPortable } from '../../../../lib/change/backup/portable/read.ts';
import { decrypterFor, encrypterFor } from '../../../../lib/change/backup/portable/recipients.ts';
import { authorityPaths } from '../../../../lib/render/kubernetes/authorities.ts';
import { saveRenderInput } from '../../../../lib/render/render-input.ts';
import { writeBackup } from '../../change/backup/backup-folder.ts';
import { ageKeys } from '../../change/backup/portable-backup.ts';
import { input, textAt } from '../../render/rendered-host.ts';
import { DAMAGE } from '../damage.ts';
import { cluster } from '../host/cluster.ts';
import { testHost } from '../host/host.ts';
import { writePayload } from '../host/payload.ts';
import { BACKUPS, NAME } from './backup-host.ts';

const SETTINGS = '/etc/sno-agents/settings.json';
const { recipient, identity } = await ageKeys();
const { signal } = new AbortController();

/** The settings in a portable backup of this host. */
async function exportingHost(t: Test) {
  const host = testHost(t);
  const folder = host.at(join(BACKUPS, NAME));
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, 0o700);
  writeBackup(folder);
  host.write('/etc/sno-agents/cluster.json', JSON.stringify(cluster));
  await saveRenderInput(host.paths, input);
  writePayload(host, '/var/lib/sno-agents/payload');
  const { key } = authorityPaths('admin');
  host.write(key, textAt(key), 0o600);
  const settings = async () => {
    const target = host.at('/backup.age');
    rmSync(target, { force: true });
    const encrypter = encrypterFor([recipient]);
    const { settingsFault } = await exportBackup(host.paths, NAME, { target, encrypter }, signal);
    const opening = {
      decrypter: decrypterFor(identity, 'key'),
      author: { kind: 'not-compared' },
    } as const;
    const { header } = await readPortable(target, opening, {}, signal);
    return { given: header.settings, settingsFault: settingsFault?.message };
  };
  return { host, settings };
}

t.test('damaged settings keep no backup from leaving the host', async (t) => {
  for (const [what, damage] of Object.entries(DAMAGE)) {
    const { host, settings } = await exportingHost(t);
    t.strictSame(await settings(), { given: undefined, settingsFault: undefined }, 'without them');
    damage(host, SETTINGS);
    const none = what === 'a folder' ? undefined : {};
    const { given, settingsFault } = await settings();
    t.strictSame(given, none, what);
    t.match(settingsFault, /^the settings in \S+settings\.json cannot be used/, what);
  }
});

t.test('of settings with a fault, the others go with a backup', async (t) => {
  const { host, settings } = await exportingHost(t);
  host.write(SETTINGS, '{"backupKeepCount": 3, "etcdMs": "long", "hurry": true}');
  t.match(await settings(), { given: { backupKeepCount: 3 }, settingsFault: /cannot be used/ });
});
