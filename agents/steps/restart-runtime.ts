import type { RuntimeKind } from '../../lib/clients/cri/kind.ts';
import { connectRuntime, runningSocket } from '../../lib/clients/cri/runtime.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import { restartUnit } from '../../lib/host/systemd.ts';

const UNITS: Readonly<Record<RuntimeKind, string>> = {
  containerd: 'containerd.service',
  'cri-o': 'crio.service',
};

/**
 * Restarts the container runtime, if one runs: it reads its proxy only when it starts. Containers go on. A host has
 * the unit of one runtime only, and systemctl fails for one that does not exist.
 */
export async function restartRuntime(paths: HostPaths, signal: AbortSignal): Promise<void> {
  const socket = runningSocket(paths);
  if (socket === undefined) return;
  using runtime = connectRuntime(socket);
  await restartUnit(UNITS[runtime.kind], signal);
}
