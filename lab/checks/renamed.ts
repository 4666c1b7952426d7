import { join } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import { eventually } from '../eventually.ts';
import { onHost } from '../host/on-host.ts';
import { HELLO_IMAGE, importHelloImage } from '../test-workload.ts';
import { applyObject } from './apply-object.ts';
import type { RunningCheck, RunningCluster } from './check.ts';
import { kubectl } from './kubectl.ts';

const NEW_NAME = 'edge-7';
const CHANGE_MS = 12 * 60_000;
const READY_MS = 3 * 60_000;
const DATA = 'sold: 1';
const SECRET = 'from the Secret';

const secret = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'shop', namespace: 'default' },
  stringData: { password: SECRET },
};
const claim = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'sales', namespace: 'default' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '10Mi' } } },
};
const shop = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'shop', namespace: 'default' },
  spec: {
    replicas: 1,
    strategy: { type: 'Recreate' },
    selector: { matchLabels: { app: 'shop' } },
    template: {
      metadata: { labels: { app: 'shop' } },
      spec: {
        terminationGracePeriodSeconds: 1,
        containers: [
          {
            name: 'shop',
            image: HELLO_IMAGE,
            imagePullPolicy: 'Never',
            command: ['busybox', 'sleep', '86400'],
            env: [
              { name: 'PASSWORD', valueFrom: { secretKeyRef: { name: 'shop', key: 'password' } } },
            ],
            volumeMounts: [{ name: 'data', mountPath: '/data' }],
          },
        ],
        volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'sales' } }],
      },
    },
  },
};

/** It has a Secret, a projected token and a volume of this host. */
export const workload: RunningCheck = {
  name: 'a workload with a Secret and a volume of this host starts',
  run: async (cluster, signal) => {
    await importHelloImage(cluster.host, join(cluster.folder, 'hello.tar'), signal);
    for (const object of [secret, claim, shop]) await applyObject(cluster, object, signal);
    await kubectl(cluster, ['rollout', 'status', 'deployment/shop', '--timeout=50s'], signal);
    await inShop(cluster, `echo '${DATA}' > /data/sales`, signal);
    await expectWorkload(cluster, signal);
  },
};

/** The whole transaction, with a real kubelet. */
export const renamed: RunningCheck = {
  name: 'the host gets another name, and the workload goes on with its data',
  run: async (cluster, signal) => {
    const cidrs = await podCidrs(cluster, signal);
    const change = ['sno-identity', 'change', '--hostname', NEW_NAME, '--yes'];
    await onHost(cluster.host, change, signal, CHANGE_MS);
    const nodes = await kubectl(cluster, ['get', 'nodes', '-o', 'name'], signal);
    expectSame('Nodes', `node/${NEW_NAME}`, nodes.trim());
    expectSame('pod subnets', cidrs, await podCidrs(cluster, signal));
    await eventually(() => expectWorkload(cluster, signal), READY_MS, signal);
    expectSame('name of the host', NEW_NAME, await onHost(cluster.host, ['hostname'], signal));
  },
};

const podCidrs = (cluster: RunningCluster, signal: AbortSignal) =>
  kubectl(cluster, ['get', 'nodes', '-o', 'jsonpath={.items[*].spec.podCIDRs}'], signal);

/** By exec, so that the kubelet's serving certificate is right as well. */
const inShop = (cluster: RunningCluster, script: string, signal: AbortSignal) =>
  kubectl(cluster, ['exec', 'deployment/shop', '--', 'busybox', 'sh', '-c', script], signal);

export async function expectWorkload(cluster: RunningCluster, signal: AbortSignal): Promise<void> {
  const token = '/var/run/secrets/kubernetes.io/serviceaccount/token';
  const script = `busybox cat /data/sales && echo "$PASSWORD" && busybox test -s ${token} && echo token`;
  const found = (await inShop(cluster, script, signal)).trim().replaceAll('\n', ', ');
  expectSame('the workload', [DATA, SECRET, 'token'].join(', '), found);
}

export function expectSame(what: string, expected: string, found: string): void {
  if (found === expected) return;
  throw new Failure('fatal', `${what} did not survive`, { expected, found });
}
