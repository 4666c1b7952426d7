import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import type { BackupContext } from '../../../../agents/steps/backup/context.ts';
import type { RestoreContext } from '../../../../agents/steps/restore/context.ts';
import { restoreChange } from '../../../../lib/change/restore/request.ts';
import type { Outcome } from '../../../../lib/engine/steps/step.ts';
import type { StepBody } from '../../../../lib/engine/steps/within.ts';
import { writeBackup } from '../../change/backup/backup-folder.ts';
import { fakeControlPlane } from '../host/control-plane.ts';
import { fakeEtcd } from '../host/etcd.ts';
import { type HostOptions, type TestHost, testHost } from '../host/host.ts';

export const BACKUPS = '/var/lib/sno-agents/backups';
export const NAME = '20300102T030405Z';
export const ENCRYPTION = '/etc/kubernetes/kube-apiserver/encryption.yaml';
export const providers = (...secrets: string[]) =>
  JSON.stringify({
    kind: 'EncryptionConfiguration',
    resources: [
      {
        resources: ['secrets'],
        providers: secrets.map((secret) => ({ secretbox: { keys: [{ name: 'key1', secret }] } })),
      },
    ],
  });

/** An etcdutl: `snapshot status` says what it is given, `snapshot restore` copies the snapshot. */
export function giveEtcdutl(host: TestHost, status = '"revision":70,"totalKey":8'): void {
  host.write(
    '/var/lib/sno-agents/bin/etcdutl',
    `#!/bin/sh
printf '%s\\n' "$*" >> ${host.at('/etcdutl-calls')}
case "$2" in
status) echo '{"hash":1,${status},"totalSize":9,"version":"3.6.0"}' ;;
restore) mkdir -p "$5/member/snap" && cp "$3" "$5/member/snap/db" ;;
esac
`,
    0o755,
  );
}

/** A host with a fake etcd, the keys that belong to a backup, and a run before which there was no backup. */
export async function backupHost(t: Test, options: HostOptions = {}) {
  const etcd = await fakeEtcd(t);
  const host = testHost(t, {
    ...options,
    endpoints: { etcd: etcd.url },
    settings: { backupMinFreeMiB: 0.001, ...options.settings },
  });
  etcd.giveAccess(host);
  giveEtcdutl(host);
  host.write(ENCRYPTION, providers('a'), 0o600);
  host.write('/etc/kubernetes/pki/ca/etcd/ca.key', 'the key of etcd', 0o600);
  host.write('/etc/kubernetes/pki/ca/etcd/ca.crt', 'the certificate of etcd', 0o644);
  const context: BackupContext = { ...host.context, run: 'this', earlier: [] };
  const run = (step: StepBody<BackupContext>): Promise<Outcome> =>
    step.run(context, host.progress());
  const holds = (step: StepBody<BackupContext>) => step.holds(context, host.progress());
  return { host, etcd, context, run, holds };
}

export const COMPONENTS = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
] as const;
export const podFile = (name: string) =>
  `/etc/kubernetes/manifests/${name === 'etcd' ? 'etcd-pod' : name}.yaml`;
export const podText = (name: string) =>
  `apiVersion: v1\nkind: Pod\nmetadata:\n  name: ${name}\n  namespace: kube-system\n`;

/** A host with a database, a running control plane and a backup whose restore was requested. */
export async function restoringHost(t: Test, options: HostOptions = {}) {
  const host = testHost(t, { settings: { restoreStartMs: 50, ...options.settings } });
  giveEtcdutl(host);
  host.write('/var/lib/etcd/member/snap/db', 'the present database');
  host.write(ENCRYPTION, providers('present'), 0o600);
  for (const name of COMPONENTS) host.write(podFile(name), podText(name));
  host.write('/etc/kubernetes/manifests/other.yaml', podText('other'));
  const folder = host.at(join(BACKUPS, NAME));
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
  writeBackup(folder, {
    [`host${ENCRYPTION}`]: providers('present'),
    'host/etc/kubernetes/pki/ca/etcd/ca.key': 'the key of etcd',
  });
  await fakeControlPlane(t, host, podFile);
  const requestedAt = '2030-01-05T00:00:00.000Z';
  await restoreChange.write(host.paths, { schemaVersion: 1, backup: NAME, requestedAt });
  const context: RestoreContext = { ...host.context, request: { backup: NAME, requestedAt } };
  const run = (step: StepBody<RestoreContext>): Promise<Outcome> =>
    step.run(context, host.progress());
  const holds = (step: StepBody<RestoreContext>) => step.holds(context, host.progress());
  return { host, context, run, holds, folder };
}
export const REPLACED = '/var/lib/etcd.replaced-20300105T000000Z';
export const database = (host: TestHost) => host.read('/var/lib/etcd/member/snap/db');
