import t, { type Test } from 'tap';
import { applyAddOns } from '../../../../agents/steps/add-ons.ts';
import { bootstrapComplete } from '../../../../agents/steps/bootstrap-complete.ts';
import { awaitNodeReady } from '../../../../agents/steps/node-ready.ts';
import {
  readRestarts,
  steadyState as steadyStateOf,
} from '../../../../agents/steps/steady-state.ts';
import { type ApiAnswer, fakeApi, listOf, refuse } from '../host/api.ts';
import { type TestHost, testHost } from '../host/host.ts';
import { writePayload } from '../host/payload.ts';
import { fakeRuntime } from '../host/runtime.ts';
import { endPauses } from '../host/timers.ts';

const steadyState = steadyStateOf('post-reboot');
const quick = { settings: { apiStableMs: 10, settlingWindowMs: 1 } };
const AFTER_BOOT = '2030-01-01T00:00:01Z';
const ready = () => ({});
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
const CONFIG_MAP = '/api/v1/namespaces/kube-system/configmaps';

/** The node as returned by the API. */
const node = (status = 'True', lastHeartbeatTime = AFTER_BOOT) => ({
  metadata: { name: 'edge-0', uid: 'u' },
  status: { conditions: [{ type: 'Ready', status, lastHeartbeatTime, message: 'no network' }] },
});

t.test('node-ready', async (t) => {
  const cases: [title: string, node: object[], says?: RegExp][] = [
    ['Ready by word of this boot', [node()]],
    ['not Ready', [node('False')], /is not Ready: no network/],
    ['of unknown state', [node('Unknown')], /is not Ready/],
    ['Ready before this boot', [node('True', '2029-12-31T23:59:59Z')], /from before this boot/],
    ['not registered', [], /not registered/],
  ];
  for (const [title, nodes, says] of cases) {
    t.test(title, async (t) => {
      const host = testHost(t);
      await fakeApi(t, host, { 'GET /api/v1/nodes': () => listOf(...nodes) });
      if (says === undefined) t.same(await host.run(awaitNodeReady), { kind: 'done' });
      else t.ok(await host.waitsFor(awaitNodeReady, says), host.lines.join(''));
      t.equal(await host.holds(awaitNodeReady), true);
    });
  }
});

t.test('add-ons', async (t) => {
  const PODS = 'GET /api/v1/pods';
  const BEFORE_BOOT = '2029-12-31T23:59:59Z';
  const waiting = { reason: 'ImagePullBackOff', message: 'no such image' };
  const pod = (addOn: string, ready: string, state: object, metadata: object = {}) => ({
    metadata: {
      name: `${addOn}-x`,
      namespace: 'n',
      labels: { 'sno-agents/add-on': addOn },
      ...metadata,
    },
    status: {
      conditions: [{ type: 'Ready', status: ready, reason: 'ContainersNotReady' }],
      containerStatuses: [{ name: 'c', restartCount: 0, state }],
    },
  });
  const running = { running: { startedAt: AFTER_BOOT } };
  const proxy = pod('kube-proxy', 'True', running);
  const host = (t: Test, names: readonly string[]) => {
    const it = testHost(t);
    writePayload(it, '/var/lib/sno-agents/payload', undefined, names);
    return it;
  };

  t.test('a payload without add-ons: the API is not asked', async (t) => {
    const it = host(t, []);
    t.same(await it.run(applyAddOns), { kind: 'done', note: 'none in the payload' });
    t.equal(await it.holds(applyAddOns), true);
  });

  t.test('each of the payload has a Ready pod of this boot', async (t) => {
    // flannel has no pod without workers.
    const it = host(t, ['coredns', 'kube-proxy', 'flannel']);
    let selector: string | null = null;
    await fakeApi(t, it, {
      [PODS]: ({ query }) => {
        selector = query.get('labelSelector');
        return listOf(proxy, pod('coredns', 'False', running), pod('coredns', 'True', running));
      },
    });
    t.same(await it.run(applyAddOns), { kind: 'done', note: 'kube-proxy, coredns' });
    t.equal(selector, 'sno-agents/add-on');
    t.equal(await it.holds(applyAddOns), true);
  });

  const cases: [title: string, pods: object[], says: RegExp][] = [
    ['no pod', [proxy], /: coredns has no pod/],
    [
      'a container that does not start',
      [proxy, pod('coredns', 'False', { waiting })],
      /: coredns is not ready: no such image/,
    ],
    [
      'one that is not ready',
      [proxy, pod('coredns', 'False', running)],
      /: coredns is not ready: ContainersNotReady/,
    ],
    [
      'the state from before this boot',
      [proxy, pod('coredns', 'True', { running: { startedAt: BEFORE_BOOT } })],
      /: coredns is not ready: not started in this boot/,
    ],
    [
      'a pod that is being deleted',
      [proxy, pod('coredns', 'True', running, { deletionTimestamp: AFTER_BOOT })],
      /: coredns is not ready/,
    ],
    ['neither', [], /: kube-proxy has no pod; coredns has no pod/],
  ];
  for (const [title, pods, says] of cases) {
    t.test(title, async (t) => {
      const it = host(t, ['kube-proxy', 'coredns']);
      await fakeApi(t, it, { [PODS]: () => listOf(...pods) });
      t.equal(await it.holds(applyAddOns), false, 'it does not count as done');
      t.ok(await it.waitsFor(applyAddOns, says), it.lines.join(''));
    });
  }
});

t.test('bootstrap-complete', async (t) => {
  const configMap = (status: string) => ({ metadata: { name: 'bootstrap' }, data: { status } });
  /** An API that stores the ConfigMap; the first `unready` readiness checks fail. */
  async function host(t: Test, unready: (asked: number) => boolean, status?: string) {
    const host = testHost(t, quick);
    let kept = status === undefined ? undefined : configMap(status);
    let asked = 0;
    const answers: Record<string, ApiAnswer> = {
      'GET /readyz': () => (unready(++asked) ? refuse(500) : {}),
      [`POST ${CONFIG_MAP}`]: ({ body }) => {
        if (kept !== undefined) return refuse(409);
        kept = JSON.parse(body);
        return kept ?? {};
      },
      [`GET ${CONFIG_MAP}/bootstrap`]: () => kept ?? refuse(404),
    };
    await fakeApi(t, host, answers);
    return { host, kept: () => kept, asked: () => asked };
  }

  t.test('publishes what wait-for watches, once the API is stable', async (t) => {
    const { host: it, kept, asked } = await host(t, () => false);
    t.same(await it.run(bootstrapComplete), { kind: 'done' });
    t.match(kept(), configMap('complete'));
    t.ok(asked() > 2, 'it asked more than once');
    t.same(await it.run(bootstrapComplete), { kind: 'done' }, 'again');
    t.equal(await it.holds(bootstrapComplete), true);
  });

  t.test('the pauses between its requests follow the settings', async (t) => {
    const { host: it } = await host(t, () => false);
    const pauses = endPauses(t);
    const settings = { ...it.context.settings, apiStableMs: 600_000 };
    await bootstrapComplete.run({ ...it.context, settings }, it.progress());
    t.same(pauses, Array(5).fill(120_000));
    t.match(it.lines.join(''), /Waiting for the API to be stable/);
  });

  t.test('ends when it is told to stop between its requests', async (t) => {
    const { host: it } = await host(t, () => false);
    const settings = { ...it.context.settings, apiStableMs: 3_000_000 };
    const stop = new AbortController();
    const running = bootstrapComplete.run({ ...it.context, settings }, it.progress(stop.signal));
    await it.said(/Waiting for the API to be stable/);
    setImmediate(() => stop.abort(new Error('told to stop')));
    await t.rejects(running);
  });

  for (const [title, unready] of [
    ['at first', (asked: number) => asked === 1],
    ['in between', (asked: number) => asked === 3],
    ['at last', (asked: number) => asked === 6],
  ] as const) {
    t.test(`an API that is not ready ${title} is checked again later`, async (t) => {
      const { host: it, kept } = await host(t, unready);
      t.match(await it.run(bootstrapComplete), { kind: 'not-yet', reason: /not ready/ });
      t.equal(kept(), undefined);
    });
  }

  t.test('a ConfigMap of that name that is not ours', async (t) => {
    const { host: it } = await host(t, () => false, 'failed');
    t.match(await it.failureOf(bootstrapComplete), { kind: 'fatal', message: /bootstrap/ });
  });
});

t.test('steady-state', async (t) => {
  const components = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'];
  const pod = (name: string, restarts: number) => ({
    metadata: {
      name: `${name}-edge-0`,
      namespace: 'kube-system',
      annotations: { 'kubernetes.io/config.mirror': 'h', 'kubernetes.io/config.hash': 'h' },
    },
    status: {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: 'True' }],
      containerStatuses: [
        {
          name,
          restartCount: restarts,
          containerID: 'c',
          state: { running: { startedAt: AFTER_BOOT } },
        },
      ],
    },
  });
  const lease = (name: string) => ({
    metadata: { name, namespace: 'kube-system' },
    spec: {
      holderIdentity: 'edge-0',
      acquireTime: AFTER_BOOT,
      renewTime: '2099-01-01T00:00:00Z',
      leaseDurationSeconds: 15,
    },
  });
  const steady = (pods: object[], leases: object[]): Record<string, ApiAnswer> => ({
    'GET /readyz': ready,
    'GET /api/v1/nodes': () => listOf(node()),
    'GET /api/v1/namespaces/kube-system/pods': () => listOf(...pods),
    [`GET ${LEASES}`]: () => listOf(...leases),
    'GET /apis/apiregistration.k8s.io/v1/apiservices': () => listOf(),
  });
  const leases = [lease('kube-controller-manager'), lease('kube-scheduler')];
  /** The host's control plane in its API, and in its container runtime. */
  async function serve(t: Test, host: TestHost, answers: Record<string, ApiAnswer>) {
    await fakeRuntime(t, host, () => components.map((name) => ({ name })));
    return fakeApi(t, host, answers);
  }
  const pods = components.map((name, restarts) => pod(name, restarts));

  t.test('records the restarts of every component', async (t) => {
    const host = testHost(t, quick);
    await serve(t, host, steady(pods, leases));
    t.equal(await host.holds(steadyState), false, 'before');
    t.same(await host.run(steadyState), {
      kind: 'done',
      note: 'etcd restarted 0 times, kube-apiserver restarted 1 times, kube-controller-manager restarted 2 times, kube-scheduler restarted 3 times',
    });
    t.equal(host.mode('/var/lib/sno-agents/post-reboot/restarts.json'), 0o644);
    t.equal(await host.holds(steadyState), true, 'after');
    t.same(
      await readRestarts(host.context, 'post-reboot'),
      components.map((name, count) => ({ pod: `${name}-edge-0`, container: name, count })),
    );
  });

  t.test('a Lease from before a power cut does not make its next holder wait', async (t) => {
    const host = testHost(t, quick);
    const [leader = lease(''), scheduler = lease('')] = leases;
    let held = { ...leader.spec, acquireTime: '2029-12-31T23:59:59Z' };
    const createdAt = '2030-01-01T00:00:00Z';
    await fakeRuntime(t, host, () => components.map((name) => ({ name, createdAt })));
    await fakeApi(t, host, {
      ...steady(pods, []),
      [`GET ${LEASES}`]: () => listOf({ ...leader, spec: held }, scheduler),
      [`DELETE ${LEASES}/kube-controller-manager`]: () => {
        held = leader.spec;
        return {};
      },
    });
    t.match(await host.run(steadyState), { kind: 'done' });
    t.match(host.lines.join(''), /the Lease of kube-controller-manager: its holder has ended/);
  });

  const missing: [title: string, answers: Record<string, ApiAnswer>, says: RegExp][] = [
    ...components.map((name): [string, Record<string, ApiAnswer>, RegExp] => [
      `no ${name}`,
      steady(
        pods.filter(({ metadata }) => metadata.name !== `${name}-edge-0`),
        leases,
      ),
      new RegExp(`pod ${name}-edge-0 does not exist`),
    ]),
    ['no lease of the scheduler', steady(pods, leases.slice(0, 1)), /lease kube-scheduler/],
    ['no lease of the controller-manager', steady(pods, leases.slice(1)), /lease kube-controller/],
  ];
  t.test('waits for each of them', async (t) => {
    await Promise.all(
      missing.map(async ([title, answers, says]) => {
        const host = testHost(t, quick);
        await serve(t, host, answers);
        t.ok(await host.waitsFor(steadyState, says), host.lines.join(''));
        t.equal(await host.holds(steadyState), false, title);
      }),
    );
  });

  t.test('waits for the settling window', async (t) => {
    const host = testHost(t, { settings: { settlingWindowMs: 3_600_000 } });
    await serve(t, host, steady(pods, leases));
    t.ok(
      await host.waitsFor(
        steadyState,
        /Waiting for the control plane to settle: nothing has changed since/,
      ),
      host.lines.join(''),
    );
  });

  t.test('restarts are unknown before it', async (t) => {
    t.same(await readRestarts(testHost(t).context, 'post-reboot'), []);
  });
});
