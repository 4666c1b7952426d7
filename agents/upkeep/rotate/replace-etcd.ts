import type { Progress } from '../../../lib/engine/steps/progress.ts';
import { isInstalled } from '../../../lib/host/search-path.ts';
import { apiPort } from '../../../lib/render/kubernetes/paths.ts';
import type { PodOnHost } from '../../steps/control-plane-pods.ts';
import type { RotateContext } from './context.ts';
import { podReady } from './pod-ready.ts';
import { replacePod } from './replace-pod.ts';

const TABLE = 'table inet sno-etcd';
/** After that, the kernel itself ends it if nothing else has. */
const RESET_SECONDS = 60;

const noReset = `${TABLE}\ndelete ${TABLE}\n`;

const reset = `${noReset}${TABLE} {
  set without-database {
    type inet_service
    flags timeout
    elements = { ${apiPort} timeout ${RESET_SECONDS}s }
  }
  chain from-host {
    type filter hook output priority -150;
    ip daddr 127.0.0.0/8 tcp dport @without-database reject with tcp reset
  }
}
`;

/**
 * Replaces etcd by one with another manifest. Without its database, an API server lets requests wait for half a minute,
 * also the kubelet's to delete the mirror pod of the earlier etcd; and the kubelet starts the new one only after that
 * (tryReconcileMirrorPods, 47 s measured). So the host's connections to the API server are reset until etcd is ready: the
 * request fails at once, and the kubelet continues.
 */
export async function replaceEtcd(
  context: Pick<RotateContext, 'paths' | 'settings' | 'runNft'>,
  pod: PodOnHost,
  progress: Progress,
): Promise<void> {
  const { paths } = context;
  if (!(await isInstalled('nft'))) return replacePod(paths, pod, progress);
  await context.runNft(reset, progress.signal);
  try {
    await replacePod(paths, pod, progress);
    await podReady(context, pod, progress);
  } finally {
    await context.runNft(noReset, AbortSignal.timeout(RESET_SECONDS * 1000));
  }
}
