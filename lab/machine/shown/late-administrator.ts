import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../../../lib/host/command.ts';
import type { RunningCluster } from '../../checks/check.ts';
import { onHost } from '../../host/on-host.ts';

const COMMAND_MS = 60_000;
const ON_HOST = 'run/late.csr';

/**
 * The cluster as an administrator reaches it whose kubeconfig has expired: with one that the host has issued for a request, as
 * docs/upkeep.md says. `folder`: where the key is.
 */
export async function withLateAdministrator(
  cluster: RunningCluster,
  folder: string,
  signal: AbortSignal,
): Promise<RunningCluster> {
  const at = (name: string) => join(folder, name);
  await run(
    'openssl',
    [
      ...['req', '-new', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'],
      ...['-keyout', at('late.key'), '-out', at('late.csr'), '-subj', '/CN=late'],
    ],
    { signal, deadlineMs: COMMAND_MS },
  );
  await copyFile(at('late.csr'), join(cluster.host.rootDir, ON_HOST));
  const issue = ['/usr/local/bin/sno-certificates', 'kubeconfig', '--csr', `/${ON_HOST}`];
  const issued = await onHost(cluster.host, issue, signal);
  const kubeconfig = at('late.kubeconfig');
  await writeFile(kubeconfig, issued, { mode: 0o600 });
  return { ...cluster, kubeconfig };
}
