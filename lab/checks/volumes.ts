import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import { eventually } from '../eventually.ts';
import { HELLO_IMAGE } from '../test-workload.ts';
import { applyObject } from './apply-object.ts';
import type { RunningCheck, RunningCluster } from './check.ts';
import { kubectl } from './kubectl.ts';

const DATA = 'written before the restart';
const VOLUMES = 'var/lib/local-path-provisioner';
const DELETED_MS = 60_000;

/** Without a storageClassName: the default class must serve it. */
const claim = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'kept', namespace: 'default' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '10Mi' } } },
};

/** Not root: a volume must be writable for any user. */
const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'keeper', namespace: 'default' },
  spec: {
    terminationGracePeriodSeconds: 0,
    securityContext: { runAsUser: 1000, runAsGroup: 1000 },
    containers: [
      {
        name: 'keeper',
        image: HELLO_IMAGE,
        imagePullPolicy: 'Never',
        command: ['busybox', 'sleep', '3600'],
        volumeMounts: [{ name: 'data', mountPath: '/data' }],
      },
    ],
    volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'kept' } }],
  },
};

export const volumes: RunningCheck = {
  name: 'a claim keeps its data when its pod is replaced, and is deleted with its data',
  run: async (cluster, signal) => {
    await applyObject(cluster, claim, signal);
    await start(cluster, signal);
    const write = `busybox mkdir -m 0700 /data/own && echo '${DATA}' > /data/own/file`;
    await inPod(cluster, write, signal);
    await kubectl(cluster, ['delete', 'pod/keeper', '--wait'], signal);
    await start(cluster, signal);
    const found = (await inPod(cluster, 'busybox cat /data/own/file', signal)).trim();
    if (found !== DATA) {
      throw new Failure('fatal', 'a volume lost its data', { expected: DATA, found });
    }
    await kubectl(cluster, ['delete', 'pod/keeper', 'pvc/kept', '--wait'], signal);
    await eventually(() => requireDeleted(cluster), DELETED_MS, signal);
  },
};

async function start(cluster: RunningCluster, signal: AbortSignal): Promise<void> {
  await applyObject(cluster, pod, signal);
  await kubectl(cluster, ['wait', 'pod/keeper', '--for=condition=Ready', '--timeout=55s'], signal);
}

const inPod = (cluster: RunningCluster, script: string, signal: AbortSignal) =>
  kubectl(cluster, ['exec', 'keeper', '--', 'busybox', 'sh', '-c', script], signal);

/** By a helper pod of the provisioner, after the claim is gone. */
async function requireDeleted({ host }: RunningCluster): Promise<void> {
  const found = await readdir(join(host.rootDir, VOLUMES));
  if (found.length === 0) return;
  throw new Failure('fatal', 'the data of a deleted claim is not deleted', {
    found: found.join(', '),
  });
}
