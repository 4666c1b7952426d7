import { createServer } from 'node:net';
import { join } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';
import { familyOf, urlHost } from '../../lib/base/network/address.ts';
import { eventually } from '../eventually.ts';
import { SEGMENTS } from '../host/network.ts';
import { HELLO_IMAGE, importHelloImage } from '../test-workload.ts';
import { applyObject } from './apply-object.ts';
import type { RunningCheck, RunningCluster } from './check.ts';
import { kubectl } from './kubectl.ts';

const OUTSIDE_PORT = 8099;
const ANSWER_MS = 20_000;

const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'hello', namespace: 'default' },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: 'hello' } },
    template: {
      metadata: { labels: { app: 'hello' } },
      spec: {
        // busybox ignores SIGTERM; a restart of the host would wait for it.
        terminationGracePeriodSeconds: 1,
        containers: [
          {
            name: 'hello',
            image: HELLO_IMAGE,
            imagePullPolicy: 'Never',
            command: ['busybox', 'sh', '-c'],
            args: ['echo hello > /tmp/index.html && exec busybox httpd -f -p 8080 -h /tmp'],
            ports: [{ containerPort: 8080 }],
          },
        ],
      },
    },
  },
};

/** The cluster runs a workload: scheduler, controllers, kubelet and pod network together. */
export const workload: RunningCheck = {
  name: 'a Deployment made now runs, answers and reaches the outside in every family',
  run: async (cluster, signal) => {
    await importHelloImage(cluster.host, join(cluster.folder, 'hello.tar'), signal);
    await applyObject(cluster, deployment, signal);
    await kubectl(cluster, ['rollout', 'status', 'deployment/hello', '--timeout=50s'], signal);
    const addresses = await podAddresses(cluster, signal);
    for (const address of addresses) {
      const answer = await ask(cluster, `http://${urlHost(address)}:8080/`, signal);
      if (answer.trim() !== 'hello') {
        throw new Failure('fatal', 'unexpected response of the Deployment', { found: answer });
      }
    }
    const logs = await kubectl(cluster, ['logs', 'deployment/hello', '--tail=1'], signal);
    if (logs.includes('error'))
      throw new Failure('fatal', 'the kubelet returns no logs', { found: logs });
    for (const address of cluster.host.identity.addresses) {
      await reachOutside(cluster, address, signal);
    }
  },
};

async function podAddresses(cluster: RunningCluster, signal: AbortSignal): Promise<string[]> {
  const path = 'jsonpath={.items[0].status.podIPs[*].ip}';
  const pods = ['get', 'pods', '-l', 'app=hello', '-o', path];
  const addresses = (await kubectl(cluster, pods, signal)).split(' ');
  const expected = cluster.host.identity.addresses.map(familyOf).join();
  if (addresses.map(familyOf).join() === expected) return addresses;
  throw new Failure('fatal', 'the pod has addresses of unexpected families', {
    expected,
    found: addresses.join(', '),
  });
}

/** From outside, where there is no route to pods, a server must be reached through the node's own address. */
async function reachOutside(
  cluster: RunningCluster,
  nodeAddress: string,
  signal: AbortSignal,
): Promise<void> {
  const { bridge } = SEGMENTS[familyOf(nodeAddress)];
  const server = createServer((socket) => socket.end(`${socket.remoteAddress}\n`));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(OUTSIDE_PORT, bridge, resolve);
  });
  try {
    const netcat = ['busybox', 'nc', '-w', '5', bridge, `${OUTSIDE_PORT}`];
    const args = ['exec', 'deployment/hello', '--', ...netcat];
    const found = (await kubectl(cluster, args, signal)).trim();
    if (found === nodeAddress) return;
    throw new Failure('fatal', 'traffic of pods does not leave the host with its address', {
      expected: nodeAddress,
      found,
    });
  } finally {
    server.close();
  }
}

/** From the host itself, which is on the pod network. */
function ask({ host }: RunningCluster, url: string, signal: AbortSignal): Promise<string> {
  const curl = ['curl', '--silent', '--max-time', '3', url];
  return eventually(
    async () => {
      const { stdout, stderr, exitCode } = await host.exec(curl, { timeoutMs: 5_000 }, signal);
      if (exitCode === 0) return stdout;
      throw new Failure('retry', `${url} does not answer on the host`, { found: stderr });
    },
    ANSWER_MS,
    signal,
  );
}
