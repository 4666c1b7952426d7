import { once } from 'node:events';
import { statSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import t, { type Test } from 'tap';
import { quiesce } from '../../../../agents/bootkube/handover/quiesce.ts';
import { stopEtcd } from '../../../../agents/bootkube/handover/stop-etcd.ts';
import { controlPlane } from '../../../../agents/steps/control-plane.ts';
import { etcdServes } from '../../../../agents/steps/etcd.ts';
import { fakeApi, refuse } from '../host/api.ts';
import { fakeEtcd } from '../host/etcd.ts';
import { type TestHost, testHost } from '../host/host.ts';
import { containersOf, giveRendered, podPath, rendered } from '../host/rendered.ts';
import { type FakeContainer, fakeRuntime } from '../host/runtime.ts';

const ETCD = podPath('etcd');
const API_SERVER = podPath('kube-apiserver');
const LEADERS = [podPath('kube-controller-manager'), podPath('kube-scheduler')];
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
const controlPlanePods = [API_SERVER, ...LEADERS];

/** A live host with rendered static pods, some of them placed. */
async function host(t: Test, placed: readonly string[], containers = containersOf) {
  const it = testHost(t);
  await giveRendered(it);
  for (const path of placed) it.write(path, 'placed');
  await fakeRuntime(t, it, () => containers(it));
  return it;
}

/** An API that deletes Leases only after the leaders have stopped. */
const withLeases = (t: Test, it: TestHost) => {
  const remove = () => {
    t.same(
      LEADERS.filter((path) => it.has(path)),
      [],
      'the leaders are stopped first',
    );
    return it.has(API_SERVER) ? {} : refuse(500);
  };
  return fakeApi(t, it, {
    [`DELETE ${LEASES}/kube-controller-manager`]: remove,
    [`DELETE ${LEASES}/kube-scheduler`]: remove,
  });
};

t.test('quiesce', async (t) => {
  t.test('stops the leaders, deletes their Leases, stops the API server; etcd stays', async (t) => {
    const it = await host(t, [ETCD, ...controlPlanePods]);
    const { requests } = await withLeases(t, it);
    t.equal(await it.holds(quiesce), false, 'before');
    t.same(await it.run(quiesce), { kind: 'done' });
    t.same(
      controlPlanePods.filter((path) => it.has(path)),
      [],
    );
    t.ok(it.has(ETCD));
    t.same(requests.toSorted(), [
      `DELETE ${LEASES}/kube-controller-manager`,
      `DELETE ${LEASES}/kube-scheduler`,
    ]);
    t.equal(await it.holds(quiesce), true, 'after');
  });

  t.test('pods that still run or are still placed are not stopped', async (t) => {
    for (const path of controlPlanePods) {
      const it = await host(t, [path], () => []);
      t.equal(await it.holds(quiesce), false, `placed: ${path}`);
    }
    for (const name of ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler']) {
      const it = await host(t, [], () => [{ name: 'another' }, { name }]);
      t.equal(await it.holds(quiesce), false, `runs: ${name}`);
    }
    const others = await host(t, [ETCD], () => [
      { name: 'etcd' },
      { name: 'kube-scheduler', state: 'exited' },
    ]);
    t.equal(await others.holds(quiesce), true);
  });

  t.test('interrupted after the API server was stopped, it needs no API', async (t) => {
    const it = await host(t, LEADERS);
    t.same(await it.run(quiesce), { kind: 'done' });
    t.equal(await it.holds(quiesce), true);
  });

  t.test('interrupted before the Leases are deleted, it deletes them', async (t) => {
    const it = await host(t, [API_SERVER]);
    const { requests } = await withLeases(t, it);
    await it.run(quiesce);
    t.equal(requests.length, 2);
  });

  t.test('if Leases cannot be deleted, the API server keeps running', async (t) => {
    const it = await host(t, controlPlanePods);
    const no = () => refuse(403);
    await fakeApi(t, it, {
      [`DELETE ${LEASES}/kube-controller-manager`]: no,
      [`DELETE ${LEASES}/kube-scheduler`]: no,
    });
    await t.rejects(it.run(quiesce), /refused by the test/);
    t.ok(it.has(API_SERVER));
  });

  t.test('waits for a container that keeps running', async (t) => {
    const it = await host(t, LEADERS, () => [{ name: 'kube-scheduler' }, { name: 'another' }]);
    t.ok(await it.waitsFor(quiesce, /Waiting for .*kube-scheduler to stop/));
  });
});

t.test('stop-etcd', async (t) => {
  const it = await host(t, [ETCD]);
  t.equal(await it.holds(stopEtcd), false, 'before');
  t.same(await it.run(stopEtcd), { kind: 'done' });
  t.notOk(it.has(ETCD));
  t.equal(await it.holds(stopEtcd), true, 'after');
  t.same(await it.run(stopEtcd), { kind: 'done' }, 'again');
  const running = await host(t, [], () => [{ name: 'etcd' }, { name: 'another' }]);
  t.equal(await running.holds(stopEtcd), false, 'its container still runs');
  t.ok(await running.waitsFor(stopEtcd, /Waiting for etcd to stop/));
});

t.test('control-plane', async (t) => {
  t.test('places the pods and waits for API and containers', async (t) => {
    const it = await host(t, [ETCD]);
    const isReady = () => {
      for (const path of LEADERS) t.notOk(it.has(path), 'they start when the API is ready');
      return it.has(API_SERVER) ? {} : refuse(500);
    };
    const api = { 'GET /readyz': isReady };
    await fakeApi(t, it, api);
    t.equal(await it.holds(controlPlane), false, 'before');
    t.same(await it.run(controlPlane), { kind: 'done' });
    for (const { component, manifest } of rendered.staticPods.slice(1)) {
      t.equal(it.read(podPath(component)), manifest);
      t.equal(it.mode(podPath(component)), 0o600);
    }
    api['GET /readyz'] = () => ({});
    t.equal(await it.holds(controlPlane), true, 'after');
    t.same(await it.run(controlPlane), { kind: 'done' }, 'again');
  });

  const missing: [title: string, containers: FakeContainer[]][] = [
    ['does not exist', []],
    ['is not started yet', [{ name: 'kube-controller-manager', state: 'created' }]],
    ['has stopped', [{ name: 'kube-controller-manager', state: 'exited' }]],
  ];
  for (const [title, containers] of missing) {
    t.test(`waits for a container that ${title}`, async (t) => {
      const others = [{ name: 'kube-apiserver' }, { name: 'kube-scheduler' }];
      const it = await host(t, [], () => [...others, ...containers]);
      await fakeApi(t, it, { 'GET /readyz': () => ({}) });
      t.ok(await it.waitsFor(controlPlane, /Waiting for .*kube-controller-manager.* to run/));
    });
  }

  t.test('says why the API is not ready', async (t) => {
    const it = await host(t, []);
    await fakeApi(t, it, { 'GET /readyz': () => refuse(500) });
    t.ok(await it.waitsFor(controlPlane, /Waiting for the API server to be ready: \/readyz.* 500/));
  });

  t.test('a static pod already in place is not changed', async (t) => {
    const it = await host(t, []);
    await fakeApi(t, it, { 'GET /readyz': () => ({}) });
    await it.run(controlPlane);
    const before = statSync(it.at(API_SERVER)).ino;
    await it.run(controlPlane);
    t.equal(statSync(it.at(API_SERVER)).ino, before, 'the kubelet would start it anew');
    it.write(API_SERVER, 'half');
    await it.run(controlPlane);
    t.equal(it.read(API_SERVER), 'manifest of kube-apiserver\n');
  });
});

t.test('etcd', async (t) => {
  const member = await fakeEtcd(t);
  const it = testHost(t, { endpoints: { etcd: member.url } });
  await giveRendered(it);
  t.equal(await it.holds(etcdServes), false, 'no certificates yet');
  member.giveAccess(it);
  t.equal(await it.holds(etcdServes), true);
  member.state.leader = '0';
  t.equal(await it.holds(etcdServes), false, 'no leader');
  member.state.leader = '7';
  t.match(await it.run(etcdServes), { kind: 'done', note: 'version 3.6.8, revision 12' });
  t.equal(it.read(ETCD), 'manifest of etcd\n');
  t.equal(it.mode(ETCD), 0o600);
});

t.test('waits for an etcd that does not answer yet', async (t) => {
  const member = await fakeEtcd(t);
  let refused = 0;
  // Like the port of a starting etcd: connections are refused at first.
  const port = createServer((connection) => {
    connection.on('error', () => connection.destroy());
    if (refused++ === 0) return void connection.destroy();
    const { hostname, port } = new URL(member.url);
    const onwards = connect(Number(port), hostname, () =>
      connection.pipe(onwards).pipe(connection),
    );
    onwards.on('error', () => connection.destroy());
    connection.on('close', () => onwards.destroy());
  });
  port.listen(0, '127.0.0.1');
  await once(port, 'listening');
  t.teardown(() => port.close());
  const address = port.address();
  const at = typeof address === 'object' ? address?.port : undefined;
  const it = testHost(t, { endpoints: { etcd: `https://127.0.0.1:${at}` } });
  await giveRendered(it);
  member.giveAccess(it);
  t.match(await it.run(etcdServes), { kind: 'done', note: /^version 3\.6\.8/ });
  t.ok(refused > 1);
  t.match(it.lines.join(''), /Waiting for etcd to elect itself/);
});
