import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { copyFile } from '../../lib/host/copy.ts';
import { hostPaths } from '../../lib/host/paths.ts';
import {
  components as controlPlane,
  manifestFile,
} from '../../lib/render/kubernetes/static-pod.ts';
import type { Components } from '../components/index.ts';
import type { Host } from '../host/host.ts';
import { onHost } from '../host/on-host.ts';
import { bareName, PROGRAMS, unitOfKubelet, unitOfPod } from './units.ts';

/** Everything of ours that starts at a boot of an installed all-in-one host. */
const UNITS = ['kubelet.service', 'sno-renew.timer', 'sno-backup.timer'];
const EXEC_MS = 60_000;

export const bareUnits: readonly string[] = [...controlPlane, 'kubelet'].map(bareName);

/**
 * Makes an installed all-in-one host one whose next boot starts the same programs by bare units, with
 * the flags, certificates and files that were rendered for it, and with no data: no object in etcd, no
 * container, no pod.
 */
export async function makeBare(
  host: Host,
  { etcd, kubernetes }: Pick<Components, 'etcd' | 'kubernetes'>,
  signal: AbortSignal,
): Promise<void> {
  const { at, staticPods } = hostPaths(host.rootDir);
  const systemd = at('/etc/systemd/system');
  await onHost(host, ['systemctl', 'disable', '--now', ...UNITS], signal);
  const units = [unitOfKubelet(await readFile(join(systemd, 'kubelet.service'), 'utf8'))];
  for (const component of controlPlane) {
    const manifest = join(staticPods, manifestFile(component));
    units.push(unitOfPod(await readFile(manifest, 'utf8')));
    await rm(manifest);
    const folder = component === 'etcd' ? etcd : kubernetes;
    await copyFile(join(folder, component), at(join(PROGRAMS, component)), 0o755, signal);
  }
  await removeContainers(host, signal);
  await removeData(at);
  for (const { name, text } of units) await writeFile(join(systemd, name), text);
  await onHost(host, ['systemctl', 'enable', ...bareUnits], signal);
}

/** With the kubelet stopped, nothing starts them anew. */
export async function removeContainers(host: Host, signal: AbortSignal): Promise<void> {
  const ctr = ['ctr', '--namespace', 'k8s.io'];
  const idsOf = async (what: string) =>
    (await onHost(host, [...ctr, what, 'list', '--quiet'], signal)).split('\n').filter(Boolean);
  for (const id of await idsOf('tasks')) {
    // containerd may have deleted the task of a container that has just ended.
    const kill = [...ctr, 'tasks', 'delete', '--force', id];
    await host.exec(kill, { timeoutMs: EXEC_MS }, signal);
  }
  const ids = await idsOf('containers');
  if (ids.length > 0) await onHost(host, [...ctr, 'containers', 'delete', ...ids], signal);
}

async function removeData(at: (path: string) => string): Promise<void> {
  for (const folder of ['/var/lib/etcd', '/var/lib/kubelet/pods']) {
    for (const name of await readdir(at(folder))) {
      await rm(join(at(folder), name), { recursive: true });
    }
  }
  // As on a new host, where the kubelet requests its serving certificate.
  const pki = at('/var/lib/kubelet/pki');
  for (const name of await readdir(pki)) {
    if (name.startsWith('kubelet-server')) await rm(join(pki, name));
  }
}
