import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import { type Component, ensureComponent } from '../components/component.ts';
import { etcd } from '../components/etcd.ts';
import { kubernetes } from '../components/kubernetes.ts';

/** Environment variable: folder with etcd, etcdutl, kube-apiserver … to use instead of the lab's cache. */
const folderVariable = 'SNO_AGENTS_BIN';

/** Path of a real executable; built into the lab's cache if missing. */
async function binary(component: Component, name: string, signal: AbortSignal): Promise<string> {
  const report = (line: string) => process.stderr.write(`${component.name}: ${line}\n`);
  const folder =
    process.env[folderVariable] ?? (await ensureComponent(component, { signal, report }));
  const path = join(folder, name);
  await access(path, constants.X_OK);
  return path;
}

export async function etcdBinaries(
  signal: AbortSignal,
): Promise<{ etcd: string; etcdutl: string; etcdctl: string }> {
  return {
    etcd: await binary(etcd, 'etcd', signal),
    etcdutl: await binary(etcd, 'etcdutl', signal),
    etcdctl: await binary(etcd, 'etcdctl', signal),
  };
}

export function kubernetesBinary(name: string, signal: AbortSignal): Promise<string> {
  return binary(kubernetes, name, signal);
}
