import { connectHostRuntime } from '../../lib/clients/cri/runtime.ts';
import { cgroupVersion } from '../../lib/host/cgroup.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import { resolvConfForPods } from '../../lib/host/resolv-conf.ts';
import { kubeletIsOnOverlay } from '../../lib/host/root.ts';
import type { Payload } from '../../lib/payload/payload.ts';
import type { KubeletInput } from '../../lib/render/kubernetes/kubelet.ts';
import { REQUEST_DEADLINE_MS } from './request-deadline.ts';

/** What the configuration of a kubelet depends on, as the host and its container runtime say it now. */
export async function kubeletFacts(
  paths: HostPaths,
  { versions }: Pick<Payload, 'versions'>,
  signal: AbortSignal,
): Promise<KubeletInput['host']> {
  using runtime = connectHostRuntime(paths);
  const { cgroupDriver } = await runtime.status({ signal, deadlineMs: REQUEST_DEADLINE_MS });
  return {
    cgroupDriver,
    cgroupVersion: await cgroupVersion(),
    containerRuntime: runtime.kind,
    rootIsOverlay: await kubeletIsOnOverlay(paths),
    resolvConf: await resolvConfForPods(paths),
    versions,
  };
}
