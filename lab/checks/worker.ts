import { join } from 'node:path';
import { z } from 'zod';
import { Failure } from '../../lib/errors/failure.ts';
import { exists } from '../../lib/host/files.ts';
import { eventually } from '../eventually.ts';
import type { Host } from '../host/host.ts';
import { DOMAIN } from '../site.ts';
import { HELLO_IMAGE, importHelloImage } from '../test-workload.ts';
import { applyObject } from './apply-object.ts';
import type { RunningCheck } from './check.ts';
import { kubectl } from './kubectl.ts';

const ANSWER_MS = 30_000;

const nodeSchema = z.object({
  spec: z.object({ podCIDR: z.string(), taints: z.array(z.unknown()).optional() }),
  status: z.object({ conditions: z.array(z.object({ type: z.string(), status: z.string() })) }),
});

/** On the host's network: the pod networks of two hosts are not connected. */
const pod = (nodeName: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'on-worker', namespace: 'kube-system', labels: { app: 'on-worker' } },
  spec: {
    nodeName,
    hostNetwork: true,
    terminationGracePeriodSeconds: 0,
    containers: [
      {
        name: 'web',
        image: HELLO_IMAGE,
        imagePullPolicy: 'Never',
        command: ['busybox', 'sh', '-c'],
        args: [
          'echo worker > /tmp/index.html && echo ready && exec busybox httpd -f -p 8081 -h /tmp',
        ],
        readinessProbe: { httpGet: { path: '/', port: 8081 }, periodSeconds: 1 },
      },
    ],
  },
});

const service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'on-worker', namespace: 'kube-system' },
  spec: { selector: { app: 'on-worker' }, ports: [{ port: 80, targetPort: 8081 }] },
};

/** What a worker promises once it has joined. */
export function workerChecks(worker: Host): readonly RunningCheck[] {
  const name = `${worker.identity.name}.${DOMAIN}`;
  return [
    {
      name: 'its Node is Ready, without a taint, with subnets of its own',
      run: async (cluster, signal) => {
        const text = await kubectl(cluster, ['get', 'node', name, '-o', 'json'], signal);
        const { spec, status } = nodeSchema.parse(JSON.parse(text));
        const ready = status.conditions.find(({ type }) => type === 'Ready')?.status;
        if (ready !== 'True' || (spec.taints ?? []).length > 0) {
          throw new Failure('fatal', 'the worker does not run pods', { found: text });
        }
      },
    },
    {
      name: 'a pod on it answers a Service from the control-plane host, and its logs can be read',
      run: async (cluster, signal) => {
        await importHelloImage(worker, join(cluster.folder, 'worker-hello.tar'), signal);
        for (const object of [pod(name), service]) await applyObject(cluster, object, signal);
        const inSystem = ['-n', 'kube-system'];
        const wait = ['wait', 'pod/on-worker', '--for=condition=Ready', '--timeout=50s'];
        await kubectl(cluster, [...wait, ...inSystem], signal);
        const ip = ['get', 'service', 'on-worker', '-o', 'jsonpath={.spec.clusterIP}'];
        const address = await kubectl(cluster, [...ip, ...inSystem], signal);
        const ask = ['curl', '--silent', '--max-time', '5', `http://${address}/`];
        await eventually(
          async () => {
            const { stdout } = await cluster.host.exec(ask, { timeoutMs: 10_000 }, signal);
            if (stdout.trim() !== 'worker') {
              throw new Failure('retry', 'the Service does not answer', { found: stdout });
            }
          },
          ANSWER_MS,
          signal,
        );
        const logs = await kubectl(cluster, ['logs', 'on-worker', ...inSystem], signal);
        if (!logs.includes('ready')) {
          throw new Failure('fatal', 'the logs of the pod cannot be read', { found: logs });
        }
      },
    },
    {
      name: 'nothing of the installation is left on it, above all no token',
      run: async (_cluster, signal) => {
        const gone = [
          'etc/sno-agents/worker-bootstrap.kubeconfig',
          'etc/sno-agents/leftovers.json',
          'etc/systemd/system/sno-worker.service',
          'var/lib/sno-agents/worker',
          'boot/ignition',
        ];
        for (const path of gone) {
          if (await exists(join(worker.rootDir, path))) {
            throw new Failure('fatal', `/${path} is left on the worker`);
          }
        }
        const search = [
          'grep',
          '-rlE',
          'bootstrap-token|worker-bootstrap',
          '/etc',
          '/var/lib/kubelet',
        ];
        const { stdout } = await worker.exec(search, { timeoutMs: 20_000 }, signal);
        if (stdout.trim() !== '') {
          throw new Failure('fatal', 'the token is left on the worker', { found: stdout });
        }
        const list = ['systemctl', 'list-units', '--failed', '--no-legend', '--plain'];
        const failed = (await worker.exec(list, { timeoutMs: 20_000 }, signal)).stdout.trim();
        if (failed !== '') throw new Failure('fatal', 'units have failed', { found: failed });
      },
    },
  ];
}
