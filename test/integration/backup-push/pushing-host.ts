import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execaSync } from 'execa';
import type { Test } from 'tap';
import { pushContext } from '../../../agents/upkeep/backup-push/context.ts';
import { push } from '../../../agents/upkeep/backup-push/push.ts';
import { readPushState } from '../../../lib/change/backup/push/state.ts';
import { authorityPaths } from '../../../lib/render/kubernetes/authorities.ts';
import { saveRenderInput } from '../../../lib/render/render-input.ts';
import { BACKUPS } from '../../unit/agents/backup/backup-host.ts';
import { cluster } from '../../unit/agents/host/cluster.ts';
import { testHost } from '../../unit/agents/host/host.ts';
import { writePayload } from '../../unit/agents/host/payload.ts';
import { writeBackup } from '../../unit/change/backup/backup-folder.ts';
import { ageKeys, KEY, KEY_FILE } from '../../unit/change/backup/portable-backup.ts';
import { input, textAt } from '../../unit/render/rendered-host.ts';

export const NEWEST = '20300103T000000Z';
export const keys = await ageKeys();
export const TO = {
  apiVersion: 'sno-agents/v1',
  kind: 'BackupTo',
  recipients: [keys.recipient],
} as const;

/** A host with two backups that stores them there. Its programs are real; curl records how it was called. */
export async function pushingHost(t: Test, to: object, backupMinFreeMiB = 1) {
  const host = testHost(t, { programs: 'real', settings: { backupMinFreeMiB } });
  const folder = t.testdir({});
  const calls = join(folder, 'calls');
  const real = execaSync('which', ['curl']).stdout;
  const before = process.env.PATH;
  writeFileSync(
    join(folder, 'curl'),
    `#!/bin/sh\nprintf '%s\\n' "$*" >> '${calls}'\nenv >> '${calls}'\nexec ${real} "$@"\n`,
  );
  chmodSync(join(folder, 'curl'), 0o755);
  process.env.PATH = `${folder}:${before}`;
  t.teardown(() => {
    process.env.PATH = before;
  });
  const addBackup = (name: string) => {
    const path = host.at(join(BACKUPS, name));
    mkdirSync(path, { recursive: true, mode: 0o700 });
    chmodSync(path, 0o700);
    writeBackup(path, { [KEY_FILE]: KEY });
  };
  addBackup('20300102T030405Z');
  addBackup(NEWEST);
  host.write('/etc/sno-agents/cluster.json', JSON.stringify(cluster));
  await saveRenderInput(host.paths, input);
  writePayload(host, '/var/lib/sno-agents/payload');
  const { key } = authorityPaths('admin');
  host.write(key, textAt(key), 0o600);
  const run = async (target = to, leftMs = 60_000) => {
    host.write('/etc/sno-agents/backup-to.json', JSON.stringify(target), 0o600);
    const context = { ...(await pushContext(host.paths)), settings: host.context.settings };
    const progress = host.progress(AbortSignal.timeout(100_000), leftMs);
    const outcome = await push.run({ ...context, hostname: 'edge-0' }, progress);
    return { ...outcome, holds: await push.holds(context, progress) };
  };
  return {
    host,
    addBackup,
    run,
    state: () => readPushState(host.paths),
    calls: () => (existsSync(calls) ? readFileSync(calls, 'utf8') : ''),
  };
}
