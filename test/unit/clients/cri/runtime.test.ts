import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { z } from 'zod';
import type { Container } from '../../../../lib/clients/cri/messages.ts';
import { connectRuntime } from '../../../../lib/clients/cri/runtime.ts';
import { parseRuntimeSettings } from '../../../../lib/clients/cri/runtime-settings.ts';
import { waitForContainers } from '../../../../lib/clients/cri/wait.ts';
import { type Handlers, serveRuntime } from './serve-runtime.ts';

const limits = { signal: new AbortController().signal, deadlineMs: 5000 };

t.test('settings of containerd', async (t) => {
  const runc = (options: object | null) => ({
    containerd: { defaultRuntimeName: 'runc', runtimes: { runc: { options } } },
  });
  const cases: [unknown, object][] = [
    [
      { sandboxImage: 'r/pause:3', ...runc({ SystemdCgroup: true }) },
      { sandboxImage: 'r/pause:3', cgroupDriver: 'systemd' },
    ],
    [runc({ SystemdCgroup: false }), { cgroupDriver: 'cgroupfs' }],
    [runc(null), { cgroupDriver: 'cgroupfs' }],
    [{ systemdCgroup: true, ...runc({}) }, { cgroupDriver: 'systemd' }],
    [{ sandboxImage: 'r/pause:3' }, { sandboxImage: 'r/pause:3' }],
    [[], {}],
    [{ cni: { binDir: '/usr/libexec/cni' } }, { pluginFolders: ['/usr/libexec/cni'] }],
    [
      { cni: { binDir: '', binDirs: ['/opt/cni/bin', '/a'] } },
      { pluginFolders: ['/opt/cni/bin', '/a'] },
    ],
    [{ cni: { binDir: '', binDirs: null } }, {}],
  ];
  for (const [config, expected] of cases) {
    t.strictSame(parseRuntimeSettings(JSON.stringify(config)), expected);
  }
  t.strictSame(parseRuntimeSettings('[crio]\ncgroup_manager = "systemd"'), {});
  t.strictSame(
    parseRuntimeSettings(
      '[crio.network]\n  plugin_dirs = ["/opt/cni/bin", "/usr/libexec/cni"]\n  network_dir = "/x"\n',
    ),
    { pluginFolders: ['/opt/cni/bin', '/usr/libexec/cni'] },
  );
  t.strictSame(parseRuntimeSettings(undefined), {});
});

/** A client of a runtime with these answers. */
async function serve(t: { teardown(body: () => unknown): void }, handlers: Handlers) {
  // Not t.testdir(): a socket's path is limited to 107 bytes, and the checkout's alone can be longer.
  const folder = mkdtempSync('/tmp/sno-cri-');
  t.teardown(() => rmSync(folder, { recursive: true }));
  const socket = join(folder, 's');
  const server = await serveRuntime(socket, handlers);
  const runtime = connectRuntime(socket);
  t.teardown(() => {
    runtime[Symbol.dispose]();
    server.forceShutdown();
  });
  return runtime;
}

t.test("messages are converted to the agents' types", async (t) => {
  const runtime = await serve(t, {
    Status: () => ({
      status: { conditions: [] },
      info: { config: '{"sandboxImage":"r/pause:3"}' },
    }),
    RuntimeConfig: () => ({ linux: { cgroupDriver: 'SYSTEMD' } }),
    ListContainers: () => ({
      containers: [
        {
          id: 'a',
          podSandboxId: 'p',
          metadata: { name: 'etcd', attempt: 2 },
          state: 'CONTAINER_EXITED',
          createdAt: '1700000000123456789',
          labels: { 'io.kubernetes.pod.uid': 'u' },
        },
      ],
    }),
    ContainerStatus: (request) => {
      const asked = z.object({ containerId: z.string(), verbose: z.boolean() }).parse(request);
      if (asked.containerId !== 'a') throw new Error('no such container');
      const mounts = [{ containerPath: '/data', hostPath: '/var/lib/etcd', readonly: true }];
      return {
        status: {
          id: 'a',
          metadata: { name: 'etcd' },
          exitCode: 137,
          reason: 'Error',
          mounts,
          logPath: '/l',
          image: { image: 'example.test/etcd:1' },
        },
        ...(asked.verbose ? { info: { info: '{"pid":7}' } } : {}),
      };
    },
    ImageStatus: () => ({}),
  });
  t.strictSame(await runtime.status(limits), {
    sandboxImage: 'r/pause:3',
    conditions: [],
    cgroupDriver: 'systemd',
  });
  t.match(await runtime.listContainers(limits), [
    {
      id: 'a',
      podSandboxId: 'p',
      name: 'etcd',
      attempt: 2,
      state: 'exited',
      createdAtMs: 1700000000123,
      labels: { 'io.kubernetes.pod.uid': 'u' },
    },
  ]);
  t.match(await runtime.containerStatus('a', limits), {
    exitCode: 137,
    reason: 'Error',
    state: 'created',
    finishedAtMs: 0,
    mounts: [{ hostPath: '/var/lib/etcd', readonly: true }],
  });
  t.equal(await runtime.containerStatus('b', limits), undefined);
  t.match(await runtime.inspectContainer('a', limits), {
    status: { image: 'example.test/etcd:1' },
    info: { info: '{"pid":7}' },
  });
  t.equal(await runtime.inspectContainer('b', limits), undefined);
  t.strictSame(await runtime.conditions(limits), []);
  t.equal(await runtime.imageStatus('x', limits), undefined);
  await t.rejects(runtime.version(limits), /container runtime at .*: Version failed/);
});

t.test('a runtime that is not running', async (t) => {
  const runtime = connectRuntime(join(t.testdir(), 'none'));
  t.teardown(() => runtime[Symbol.dispose]());
  await t.rejects(runtime.version(limits), /container runtime at .*none: Version failed/);
});

const container = (state: Container['state']): Container => ({
  id: 'a',
  podSandboxId: 'p',
  name: 'etcd',
  attempt: 0,
  image: '',
  imageRef: '',
  state,
  createdAtMs: 0,
  labels: {},
  annotations: {},
});

function withoutEvents(): AsyncGenerator<string> {
  throw new Error('UNIMPLEMENTED');
}

t.test('waiting for containers', async (t) => {
  const isDown = (all: readonly Container[]) => all.every(({ state }) => state === 'exited');
  const wait = {
    description: 'etcd to stop',
    signal: limits.signal,
    deadlineMs: 3000,
    report: () => {},
  };
  const states = (...list: Container['state'][]) => ({
    lists: 0,
    async listContainers() {
      this.lists += 1;
      return [container(list.length > 1 ? (list.shift() ?? 'exited') : (list[0] ?? 'exited'))];
    },
  });

  const polled = {
    ...states('running', 'running', 'exited'),
    containerEvents: withoutEvents,
  };
  await waitForContainers(polled, isDown, { ...wait, intervalMs: 20 });
  t.ok(polled.lists >= 3);

  const pushed = {
    ...states('running', 'exited'),
    async *containerEvents({ signal }: { signal: AbortSignal }): AsyncGenerator<string> {
      yield 'a';
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    },
  };
  const began = performance.now();
  await waitForContainers(pushed, isDown, wait);
  t.ok(performance.now() - began < 1000, 'an event ends the wait at once');

  const never = { ...states('running'), containerEvents: polled.containerEvents };
  const short = { ...wait, deadlineMs: 100, intervalMs: 20 };
  await t.rejects(
    waitForContainers(never, isDown, short),
    /Waited 0\.1 s for etcd to stop; found etcd \(attempt 0\) running/,
  );
  const aborted = { ...short, signal: AbortSignal.abort(new Error('stopped')) };
  await t.rejects(waitForContainers(never, isDown, aborted), /stopped/);
});
