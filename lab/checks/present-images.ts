import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import { eventually } from '../eventually.ts';
import { HELLO_IMAGE } from '../test-workload.ts';
import { applyObject } from './apply-object.ts';
import type { RunningCheck, RunningCluster } from './check.ts';
import { kubectl } from './kubectl.ts';

/** Where a kubelet writes down that it pulls an image, and has not pulled it yet. */
const PULLING = 'var/lib/kubelet/image_manager/pulling';
const PULLING_MS = 30_000;

const pod = (name: string, imagePullPolicy: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default' },
  spec: {
    terminationGracePeriodSeconds: 0,
    containers: [
      { name, image: HELLO_IMAGE, imagePullPolicy, command: ['busybox', 'sleep', '3600'] },
    ],
  },
});

export const presentImages: RunningCheck = {
  name: 'a pod that cannot pull an image does not keep others from the one that is there',
  run: async (cluster, signal) => {
    await applyObject(cluster, pod('puller', 'Always'), signal);
    await eventually(() => requireAttempt(cluster, signal), PULLING_MS, signal);
    await applyObject(cluster, pod('taker', 'IfNotPresent'), signal);
    await kubectl(cluster, ['wait', 'pod/taker', '--for=condition=Ready', '--timeout=55s'], signal);
    await kubectl(cluster, ['delete', 'pod/puller', 'pod/taker', '--wait'], signal);
  },
};

/** That the kubelet pulls, or has tried: where a name server says at once that there is no such registry, it takes no time. */
async function requireAttempt(cluster: RunningCluster, signal: AbortSignal): Promise<void> {
  const pulling = await readdir(join(cluster.host.rootDir, PULLING));
  if (pulling.length > 0) return;
  const reason = '{.status.containerStatuses[*].state.waiting.reason}';
  const found = await kubectl(cluster, ['get', 'pod/puller', '-o', `jsonpath=${reason}`], signal);
  if (!/ImagePull/.test(found))
    throw new Failure('retry', 'the kubelet pulls nothing yet', { found });
}
