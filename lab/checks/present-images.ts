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
    await eventually(() => requirePulling(cluster), PULLING_MS, signal);
    await applyObject(cluster, pod('taker', 'IfNotPresent'), signal);
    await kubectl(cluster, ['wait', 'pod/taker', '--for=condition=Ready', '--timeout=55s'], signal);
    await kubectl(cluster, ['delete', 'pod/puller', 'pod/taker', '--wait'], signal);
  },
};

async function requirePulling({ host }: RunningCluster): Promise<void> {
  const found = await readdir(join(host.rootDir, PULLING));
  if (found.length === 0) throw new Failure('retry', 'the kubelet pulls nothing yet');
}
