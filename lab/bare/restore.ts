import { join } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import { DATABASE_FILE } from '../../lib/change/backup/manifest.ts';
import { backupsFolder } from '../../lib/change/backup/store.ts';
import { copyFile } from '../../lib/host/copy.ts';
import { hostPaths } from '../../lib/host/paths.ts';
import { accessTo } from '../../lib/render/access.ts';
import type { Host } from '../host/host.ts';
import { onHost } from '../host/on-host.ts';
import { bareUnits } from './host.ts';
import { type Disturbance, disturbanceOf } from './outage.ts';
import { bareName } from './units.ts';

const RESTORE_MS = 10 * 60_000;
const SNAPSHOT = '/var/tmp/snapshot.db';
/** As sno-backup does: no revision that a client has seen occurs again. */
const BUMP = ['--bump-revision', '1000000000', '--mark-compacted'];

/** Makes a backup of an all-in-one host, and keeps its database as `file`. Returns its name. */
export async function backUp(host: Host, file: string, signal: AbortSignal): Promise<string> {
  const name = await onHost(host, ['sno-backup', 'create'], signal);
  const from = join(backupsFolder(hostPaths(host.rootDir)), name, DATABASE_FILE);
  await copyFile(from, file, 0o600, signal);
  return name;
}

/** `sno-backup restore`, until its end. */
export function restoreBackup(host: Host, name: string, signal: AbortSignal): Promise<Disturbance> {
  return disturbanceOf({ host }, signal, async () => {
    const command = ['sno-backup', 'restore', '--from', name, '--yes'];
    const { exitCode, stderr } = await host.exec(command, { timeoutMs: RESTORE_MS }, signal);
    if (exitCode !== 0) throw new Failure('fatal', 'the restore failed', { found: stderr });
  });
}

/** What an administrator types who has nothing but etcd's own tool: stop, restore, start. */
export async function restoreBare(
  host: Host,
  file: string,
  signal: AbortSignal,
): Promise<Disturbance> {
  const { at, onHost: onItself, etcdData, binaries } = hostPaths(host.rootDir);
  await copyFile(file, at(SNAPSHOT), 0o600, signal);
  const { name, peerUrl, token } = accessTo('kubernetes').etcd.member;
  const data = onItself(etcdData);
  const restore = [
    ...[onItself(join(binaries, 'etcdutl')), 'snapshot', 'restore', SNAPSHOT],
    ...['--data-dir', data, '--name', name, '--initial-cluster', `${name}=${peerUrl}`],
    ...['--initial-cluster-token', token, '--initial-advertise-peer-urls', peerUrl, ...BUMP],
  ];
  return disturbanceOf({ host }, signal, async () => {
    // An API server whose etcd is gone takes half a minute to end.
    const etcd = bareName('etcd');
    const others = bareUnits.filter((unit) => unit !== etcd);
    await onHost(host, ['systemctl', 'stop', ...others], signal);
    await onHost(host, ['systemctl', 'stop', etcd], signal);
    await onHost(host, ['rm', '-rf', `${data}/member`], signal);
    await onHost(host, restore, signal);
    await onHost(host, ['systemctl', 'start', ...bareUnits], signal);
  });
}
