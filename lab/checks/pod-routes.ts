import { z } from 'zod';
import { Failure } from '../../lib/base/errors/failure.ts';
import { eventually } from '../eventually.ts';
import { HELLO_IMAGE } from '../test-workload.ts';
import { applyObject } from './apply-object.ts';
import type { RunningCluster } from './check.ts';
import { kubectl } from './kubectl.ts';

const ANSWER_MS = 60_000;
const NAMESPACE = 'default';

/** One Deployment and its Service on each of two nodes, each named after its place. */
const PLACES = ['on-first', 'on-worker'] as const;
type PodPlace = (typeof PLACES)[number];

/** It answers with its place, and at /cgi-bin/peer with the address of whoever asks. */
const SCRIPT = `
busybox mkdir -p /tmp/cgi-bin
echo "$PLACE" > /tmp/index.html
printf '#!/usr/local/bin/sh\\necho\\necho "$REMOTE_ADDR"\\n' > /tmp/cgi-bin/peer
busybox chmod 0755 /tmp/cgi-bin/peer
exec busybox httpd -f -p 8080 -h /tmp
`;

const deployment = (place: PodPlace, node: string) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: place, namespace: NAMESPACE },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: place } },
    template: {
      metadata: { labels: { app: place } },
      spec: {
        terminationGracePeriodSeconds: 0,
        nodeSelector: { 'kubernetes.io/hostname': node },
        tolerations: [{ operator: 'Exists' }],
        containers: [
          {
            name: 'web',
            image: HELLO_IMAGE,
            imagePullPolicy: 'Never',
            command: ['busybox', 'sh', '-c'],
            args: [SCRIPT],
            env: [{ name: 'PLACE', value: place }],
            readinessProbe: { httpGet: { path: '/', port: 8080 }, periodSeconds: 1 },
          },
        ],
      },
    },
  },
});

const service = (place: PodPlace) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: place, namespace: NAMESPACE },
  spec: { selector: { app: place }, ports: [{ port: 80, targetPort: 8080 }] },
});

/** Starts both; the image must have been imported on both hosts. */
export async function deployOnBoth(
  cluster: RunningCluster,
  nodes: Readonly<Record<PodPlace, string>>,
  signal: AbortSignal,
): Promise<void> {
  for (const place of PLACES) {
    await applyObject(cluster, deployment(place, nodes[place]), signal);
    await applyObject(cluster, service(place), signal);
  }
  for (const place of PLACES) {
    const wait = ['rollout', 'status', `deployment/${place}`, '--timeout=55s'];
    await kubectl(cluster, wait, signal);
  }
}

/** By the names of their Services, from the pod of the other node, which is seen by its own address. */
export async function podsReachEachOther(
  cluster: RunningCluster,
  signal: AbortSignal,
): Promise<void> {
  const inPod = (place: PodPlace, command: readonly string[]) =>
    kubectl(cluster, ['exec', `deployment/${place}`, '--', ...command], signal);
  const get = (url: string) => ['busybox', 'wget', '-q', '-O-', url];
  const addresses = async () => {
    const path = 'jsonpath={range .items[*]}{.metadata.labels.app}={.status.podIP}{"\\n"}{end}';
    const pods = ['get', 'pods', '--field-selector=status.phase=Running', '-o', path];
    const lines = await kubectl(cluster, [...pods, '-l', `app in (${PLACES.join()})`], signal);
    return podIps.parse(
      Object.fromEntries(
        lines
          .trim()
          .split('\n')
          .map((line) => line.split('=')),
      ),
    );
  };
  for (const [from, to] of [PLACES, PLACES.toReversed()]) {
    if (from === undefined || to === undefined) continue;
    await eventually(
      async () => {
        for (const name of [to, `${to}.${NAMESPACE}.svc.cluster.local`]) {
          const found = await inPod(from, get(`http://${name}/`));
          if (found.trim() !== to) {
            throw new Failure('retry', `the Service ${name} does not answer ${from}`, { found });
          }
        }
        const ips = await addresses();
        const peer = await inPod(from, get(`http://${ips[to]}:8080/cgi-bin/peer`));
        const seen = peer.trim().replace(/^\[::ffff:(.*)\]$/, '$1');
        if (seen !== ips[from]) {
          throw new Failure('fatal', 'a pod is not seen by its own address on another node', {
            expected: ips[from],
            found: seen,
          });
        }
      },
      ANSWER_MS,
      signal,
    );
  }
}

const podIps = z.object({ 'on-first': z.string(), 'on-worker': z.string() });

/** How many nodes flannel is to run on; all of them must have a pod of it that runs. */
export async function expectFlannelOn(
  cluster: RunningCluster,
  nodes: number,
  signal: AbortSignal,
): Promise<void> {
  const path = 'jsonpath={.status.desiredNumberScheduled} {.status.numberReady}';
  const get = ['get', 'daemonset/flannel', '-n', 'kube-system', '-o', path];
  await eventually(
    async () => {
      const found = await kubectl(cluster, get, signal);
      if (found.trim() === `${nodes} ${nodes}`) return;
      throw new Failure('retry', 'flannel does not run where it is needed', {
        expected: `on ${nodes} nodes`,
        found,
      });
    },
    ANSWER_MS,
    signal,
  );
}
