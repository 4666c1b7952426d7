import { mkdirSync, renameSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { dirname } from 'node:path';
import t, { type Test } from 'tap';
import { containers } from '../../../../agents/gather/sources/containers.ts';
import { podLogs } from '../../../../agents/gather/sources/pod-logs.ts';
import { type Handlers, serveRuntime } from '../../clients/cri/serve-runtime.ts';
import { readAll, testHost } from './host.ts';

const SOCKET = '/run/containerd/containerd.sock';
const F = 'control-plane/master';
const DAY_NS = 1_700_000_000_000_000_000n;

interface Given {
  readonly id: string;
  readonly name: string;
  readonly attempt?: number;
  readonly namespace?: string;
  readonly exitCode?: number;
}

/** A runtime with these containers, the later ones newer. */
function runtimeWith(all: readonly Given[]): Handlers {
  const entry = ({ id, name, attempt = 0, namespace = 'default', exitCode }: Given) => ({
    id,
    podSandboxId: 'sandbox',
    metadata: { name, attempt },
    image: { image: 'sha256:abc' },
    imageRef: 'sha256:abc',
    state: exitCode === undefined ? 'CONTAINER_RUNNING' : 'CONTAINER_EXITED',
    createdAt: String(DAY_NS + BigInt(all.findIndex((one) => one.id === id)) * 1_000_000_000n),
    labels: {
      'io.kubernetes.pod.name': `${name}-pod`,
      'io.kubernetes.pod.namespace': namespace,
      'io.kubernetes.pod.uid': 'uid',
    },
  });
  const logPath = ({ name, attempt = 0, namespace = 'default' }: Given) =>
    `/var/log/pods/${namespace}_${name}-pod_uid/${name}/${attempt}.log`;
  return {
    Version: () => ({ runtimeName: 'containerd', runtimeVersion: '2.1.0' }),
    Status: () => ({ status: { conditions: [{ type: 'RuntimeReady', status: true }] } }),
    ListContainers: () => ({ containers: all.map(entry) }),
    ListPodSandbox: () => ({
      items: [{ id: 'sandbox', metadata: { name: 'a', uid: 'u' }, state: 'SANDBOX_READY' }],
    }),
    ListImages: () => ({ images: [{ id: 'sha256:abc', repoTags: ['example.test/etcd:1'] }] }),
    ContainerStatus: (request) => {
      const found = all.find(({ id }) => JSON.stringify(request).includes(`"${id}"`));
      if (found === undefined) throw new Error('no such container');
      const info = {
        pid: 7,
        config: {
          envs: [
            { key: 'DB_PASSWORD', value: 'hunter2' },
            { key: 'MODE', value: 'x' },
          ],
        },
      };
      const { exitCode = 0 } = found;
      return {
        status: {
          ...entry(found),
          image: { image: 'example.test/etcd:1' },
          startedAt: String(DAY_NS),
          ...(exitCode === 0 ? {} : { finishedAt: String(DAY_NS), exitCode, reason: 'Error' }),
          logPath: logPath(found),
        },
        info: { info: JSON.stringify(info) },
      };
    },
  };
}

async function withRuntime(t: Test, all: readonly Given[]) {
  const made = testHost(t);
  const socket = made.paths.at(SOCKET);
  mkdirSync(dirname(socket), { recursive: true });
  const server = await serveRuntime(socket, runtimeWith(all));
  t.teardown(() => server.forceShutdown());
  const log = (folder: string, text: string) =>
    made.write(`/var/log/pods/${folder}.log`, `2026-01-02T03:04:05Z stdout F ${text}\n`);
  return { ...made, log };
}

t.test('listed containers: facts, inspection, logs, ends of logs', async (t) => {
  const { host, log } = await withRuntime(t, [
    { id: 'aa', name: 'etcd', attempt: 1, namespace: 'kube-system', exitCode: 2 },
    { id: 'bb', name: 'etcd', attempt: 2, namespace: 'kube-system' },
    { id: 'cc', name: 'shop' },
    { id: 'dd', name: 'till', exitCode: 1 },
  ]);
  log('kube-system_etcd-pod_uid/etcd/1', 'failed');
  log('kube-system_etcd-pod_uid/etcd/2', 'runs');
  log('default_shop-pod_uid/shop/0', 'sells');
  const files = await readAll(containers, host);
  const json = (name: string) => JSON.parse(files.get(`${F}/containers/${name}`)?.text ?? 'null');

  t.match(json('containers.json'), [
    { id: 'dd', state: 'exited', exitCode: 1, reason: 'Error' },
    { id: 'cc', state: 'running', pod: { name: 'shop-pod', namespace: 'default', uid: 'uid' } },
    {
      id: 'bb',
      name: 'etcd',
      attempt: 2,
      createdAt: '2023-11-14T22:13:21.000Z',
      startedAt: '2023-11-14T22:13:20.000Z',
      image: 'example.test/etcd:1',
      imageRef: 'sha256:abc',
      logPath: '/var/log/pods/kube-system_etcd-pod_uid/etcd/2.log',
    },
    { id: 'aa', finishedAt: '2023-11-14T22:13:20.000Z' },
  ]);
  t.notOk('finishedAt' in json('containers.json')[2], 'it has not ended');
  t.match(json('sandboxes.json'), [{ id: 'sandbox', ready: true }]);
  t.match(json('images.json'), [{ repoTags: ['example.test/etcd:1'] }]);
  t.match(json('runtime.json'), {
    runtimeVersion: '2.1.0',
    conditions: [{ type: 'RuntimeReady', status: true }],
  });
  t.match(json('etcd-bb.inspect'), {
    status: { id: 'bb', metadata: { name: 'etcd', attempt: 2 }, state: 'CONTAINER_RUNNING' },
    info: { pid: 7, config: { envs: [{ key: 'DB_PASSWORD' }, { key: 'MODE', value: 'x' }] } },
  });
  t.notMatch(files.get(`${F}/containers/etcd-bb.inspect`)?.text, /hunter2/);

  t.equal(files.get(`${F}/containers/etcd-bb.log`)?.text, '2026-01-02T03:04:05Z runs\n');
  t.match(files.get(`${F}/containers/shop-cc.log`)?.text, /sells/);
  t.match(files.get(`${F}/containers/till-dd.log`)?.failure, /ENOENT/);
  const tails = [...files.keys()].filter((path) => path.includes('/tails/')).toSorted();
  t.strictSame(
    tails.map((path) => path.replace(/.*\//, '')),
    ['etcd-aa.log', 'etcd-bb.log', 'till-dd.log'],
    'the control plane and what failed',
  );
});

t.test('logs of forgotten containers are pod logs, and nothing is collected twice', async (t) => {
  const { host, log } = await withRuntime(t, [{ id: 'bb', name: 'shop', attempt: 2 }]);
  for (const attempt of [0, 1, 2]) log(`default_shop-pod_uid/shop/${attempt}`, `at ${attempt}`);
  log('default_gone-pod_uid/gone/0', 'gone');
  const files = await readAll(podLogs, host);
  t.strictSame([...files.keys()].toSorted(), [
    'resources/pod-logs/default/gone-pod/gone.log',
    'resources/pod-logs/default/shop-pod/shop.previous.log',
  ]);
  t.match(files.get('resources/pod-logs/default/shop-pod/shop.previous.log')?.text, /at 1/);
});

/** A socket that accepts connections and never answers. */
async function silent(t: Test, socket: string): Promise<void> {
  mkdirSync(dirname(socket), { recursive: true });
  const server: Server = createServer(() => undefined);
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(socket, resolve);
  await promise;
  t.teardown(() => server.close());
  server.on('connection', (connection) => t.teardown(() => connection.destroy()));
}

t.test('a dead runtime', async (t) => {
  const cases: [string, (t: Test, socket: string) => unknown, RegExp, number][] = [
    ['no socket', () => undefined, /is not running.*found none/, 1000],
    [
      'nobody listens',
      async (_, socket) => {
        mkdirSync(dirname(socket), { recursive: true });
        const server = createServer().listen(`${socket}.new`);
        await new Promise((resolve) => server.once('listening', resolve));
        // Closing it would remove the socket under its original name.
        renameSync(`${socket}.new`, socket);
        server.close();
      },
      /Version failed/,
      2000,
    ],
    ['no answer', silent, /Version failed.*[Dd]eadline/, 7000],
  ];
  for (const [name, kill, reason, withinMs] of cases) {
    t.test(name, async (t) => {
      const { host, paths, write } = testHost(t);
      await kill(t, paths.at(SOCKET));
      const line = '2026-01-02T03:04:05Z stderr F it hurts\n';
      write('/var/log/pods/kube-system_etcd-edge_uid/etcd/4.log', line);
      write('/var/log/pods/kube-system_etcd-edge_uid/etcd/3.log', line);
      write('/var/log/pods/default_shop_uid/shop/0.log', line);
      const begun = performance.now();
      const files = await readAll(containers, host);
      t.ok(performance.now() - begun < withinMs, 'in time');
      t.match(files.get(`${F}/containers/containers.json`)?.failure, reason);
      t.strictSame([...files.keys()].filter((path) => !path.endsWith('.json')).toSorted(), [
        `${F}/containers/from-disk/default_shop_uid/shop/0.log`,
        `${F}/containers/from-disk/kube-system_etcd-edge_uid/etcd/3.log`,
        `${F}/containers/from-disk/kube-system_etcd-edge_uid/etcd/4.log`,
        `${F}/containers/tails/etcd-kube-system_etcd-edge_uid.log`,
      ]);
      for (const [path, { text }] of files) {
        if (path.endsWith('.log')) t.equal(text, '2026-01-02T03:04:05Z it hurts\n', path);
      }
      t.equal((await readAll(podLogs, host)).size, 0, 'no log of these twice');
    });
  }
});
