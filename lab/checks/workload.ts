import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { run } from '../../lib/host/command.ts';
import { Failure } from '../../lib/steps/failure.ts';
import { HELLO_IMAGE, writeHelloImage } from '../test-workload.ts';
import type { ClusterCheck, InstalledCluster } from './check.ts';
import { kubectl } from './kubectl.ts';

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

/** The cluster does what it is for: scheduler, controllers, kubelet and pod network together. */
export const workload: ClusterCheck = {
  name: 'a Deployment made now runs and answers',
  run: async (cluster, signal) => {
    await importImage(cluster, signal);
    await apply(cluster, signal);
    await kubectl(cluster, ['rollout', 'status', 'deployment/hello', '--timeout=50s'], signal);
    const path = 'jsonpath={.items[0].status.podIP}';
    const address = await kubectl(cluster, ['get', 'pods', '-l', 'app=hello', '-o', path], signal);
    const answer = await ask(cluster, `http://${address}:8080/`, signal);
    if (answer.trim() !== 'hello') {
      throw new Failure('fatal', 'the Deployment answers something else', { found: answer });
    }
    const logs = await kubectl(cluster, ['logs', 'deployment/hello', '--tail=1'], signal);
    if (logs.includes('error'))
      throw new Failure('fatal', 'the kubelet gives no logs', { found: logs });
  },
};

async function importImage({ host, folder }: InstalledCluster, signal: AbortSignal): Promise<void> {
  const archive = join(folder, 'hello.tar');
  await writeHelloImage(archive, signal);
  const inHost = join(host.rootDir, 'var/tmp/hello.tar');
  await run('cp', [archive, inHost], { signal, deadlineMs: 20_000 });
  const ctr = ['ctr', '-n', 'k8s.io', 'images', 'import', '/var/tmp/hello.tar'];
  const { exitCode, stderr } = await host.exec(ctr, { timeoutMs: 30_000 }, signal);
  if (exitCode !== 0) throw new Failure('fatal', 'the image cannot be imported', { found: stderr });
}

async function apply(cluster: InstalledCluster, signal: AbortSignal): Promise<void> {
  const manifest = join(cluster.folder, 'hello.json');
  await run('tee', [manifest], { signal, deadlineMs: 5_000, input: JSON.stringify(deployment) });
  await kubectl(cluster, ['apply', '-f', manifest], signal);
}

/** From the host itself, where the pod network is. */
async function ask({ host }: InstalledCluster, url: string, signal: AbortSignal): Promise<string> {
  for (let tries = 0; ; tries++) {
    const curl = [
      '-t',
      `${host.leader}`,
      '--net',
      '--',
      'curl',
      '--silent',
      '--max-time',
      '3',
      url,
    ];
    try {
      return await run('nsenter', curl, { signal, deadlineMs: 5_000 });
    } catch (error) {
      if (tries === 5) throw error;
      await sleep(1_000, undefined, { signal });
    }
  }
}
