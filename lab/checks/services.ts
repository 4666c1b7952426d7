import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { Failure } from '../../lib/base/errors/failure.ts';
import { familyOf, urlHost } from '../../lib/base/network/address.ts';
import { run } from '../../lib/host/command.ts';
import { DOMAIN } from '../site.ts';
import { HELLO_IMAGE } from '../test-workload.ts';
import { applyObject } from './apply-object.ts';
import type { RunningCheck, RunningCluster } from './check.ts';
import { kubectl } from './kubectl.ts';

const REPLICAS = 3;
const name = 'web';
const container = { name, image: HELLO_IMAGE, imagePullPolicy: 'Never' };

/** Each pod answers with its own name. */
const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace: 'default' },
  spec: {
    replicas: REPLICAS,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: {
        terminationGracePeriodSeconds: 1,
        containers: [
          {
            ...container,
            command: ['busybox', 'sh', '-c'],
            args: ['echo $HOSTNAME > /tmp/index.html && exec busybox httpd -f -p 8080 -h /tmp'],
            readinessProbe: { httpGet: { path: '/', port: 8080 }, periodSeconds: 1 },
          },
        ],
      },
    },
  },
};

const service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace: 'default' },
  spec: {
    type: 'NodePort',
    ipFamilyPolicy: 'PreferDualStack',
    selector: { app: name },
    ports: [{ port: 80, targetPort: 8080 }],
  },
};

const client = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'client', namespace: 'default' },
  spec: {
    terminationGracePeriodSeconds: 0,
    containers: [{ ...container, command: ['busybox', 'sleep', '3600'] }],
  },
};

/** kube-proxy, CoreDNS and the pod network together, from inside and from outside. */
export const services: RunningCheck = {
  name: 'three pods behind a Service answer by name from a pod, and by node port from outside',
  run: async (cluster, signal) => {
    // One of an earlier boot has ended with it, and nobody replaces a bare pod.
    const remove = ['delete', 'pod', client.metadata.name, '--ignore-not-found', '--timeout=50s'];
    await kubectl(cluster, remove, signal);
    for (const object of [deployment, service, client]) await applyObject(cluster, object, signal);
    await kubectl(cluster, ['rollout', 'status', `deployment/${name}`, '--timeout=50s'], signal);
    await kubectl(
      cluster,
      ['wait', 'pod/client', '--for=condition=Ready', '--timeout=50s'],
      signal,
    );
    const urls = [`http://${name}`, `http://${name}.default.svc.cluster.local`];
    for (const url of urls) {
      await everyPodAnswers(
        url,
        () => inClient(cluster, ['wget', '-q', '-O-', url], signal),
        signal,
      );
    }
    const port = await nodePort(cluster, signal);
    for (const address of cluster.host.identity.addresses) {
      const url = `http://${urlHost(address)}:${port}/`;
      const curl = ['--silent', '--show-error', '--max-time', '5', url];
      const ask = () => run('curl', curl, { signal, deadlineMs: 10_000 });
      await everyPodAnswers(url, ask, signal);
    }
  },
};

/** Connections are distributed at random: after this many, a pod that never answered is unreachable. */
const ATTEMPTS = 60;

async function everyPodAnswers(
  url: string,
  ask: () => Promise<string>,
  signal: AbortSignal,
): Promise<void> {
  const answered = new Set<string>();
  let last = 'no answer';
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    try {
      answered.add((await ask()).trim());
    } catch (error) {
      signal.throwIfAborted();
      last = error instanceof Error ? error.message : String(error);
      await sleep(500, undefined, { signal });
    }
    if (answered.size === REPLICAS) return;
  }
  throw new Failure('fatal', `not every pod behind ${url} answers`, {
    expected: `${REPLICAS} pods`,
    found: `${[...answered].join(', ') || 'none'}; ${last}`,
  });
}

export const inClient = (cluster: RunningCluster, args: readonly string[], signal: AbortSignal) =>
  kubectl(cluster, ['exec', 'client', '--', 'busybox', ...args], signal);

async function nodePort(cluster: RunningCluster, signal: AbortSignal): Promise<number> {
  const text = await kubectl(cluster, ['get', 'service', name, '-o', 'json'], signal);
  const schema = z.object({
    spec: z.object({ ports: z.tuple([z.object({ nodePort: z.int() })]) }),
  });
  return schema.parse(JSON.parse(text)).spec.ports[0].nodePort;
}

/** Where the site has DNS; with the client pod of the check above. */
export const outsideNames: RunningCheck = {
  name: "a pod resolves the site's names, by the host's name servers",
  run: async (cluster, signal) => {
    const [address] = cluster.host.identity.addresses;
    // The site's server refuses questions for addresses of a family that it has none of.
    const type = familyOf(address) === 'IPv4' ? '-type=a' : '-type=aaaa';
    const found = await inClient(cluster, ['nslookup', type, `api.${DOMAIN}.`], signal);
    if (found.includes(address)) return;
    throw new Failure('fatal', 'a pod cannot resolve a name of the site', {
      expected: `api.${DOMAIN} at ${address}`,
      found,
    });
  },
};
