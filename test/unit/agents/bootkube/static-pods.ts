import t, { type Test } from 'tap';
import { quiesce } from '../../../../agents/bootkube/handover/quiesce.ts';
import { stopEtcd } from '../../../../agents/bootkube/handover/stop-etcd.ts';
import { controlPlane } from '../../../../agents/steps/control-plane.ts';
import { etcd } from '../../../../agents/steps/etcd.ts';
import { kubelet } from '../../../../agents/steps/kubelet.ts';
import { fakeApi, refuse } from '../host/api.ts';
import { fakeEtcd } from '../host/etcd.ts';
import { type TestHost, testHost } from '../host/host.ts';
import { containersOf, giveRendered, podPath, rendered } from '../host/rendered.ts';
import { fakeRuntime } from '../host/runtime.ts';

const ETCD = podPath('etcd');
const API_SERVER = podPath('kube-apiserver');
const LEADERS = [podPath('kube-controller-manager'), podPath('kube-scheduler')];
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
const controlPlanePods = [API_SERVER, ...LEADERS];

/** A live host with rendered static pods, of which some are placed. */
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

  t.test('what still runs or is still placed is not quiet', async (t) => {
    for (const path of controlPlanePods) {
      const it = await host(t, [path], () => []);
      t.equal(await it.holds(quiesce), false, `placed: ${path}`);
    }
    for (const name of ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler']) {
      const it = await host(t, [], () => [{ name }]);
      t.equal(await it.holds(quiesce), false, `runs: ${name}`);
    }
    const others = await host(t, [ETCD], () => [
      { name: 'etcd' },
      { name: 'kube-scheduler', state: 'exited' },
    ]);
    t.equal(await others.holds(quiesce), true);
  });

  t.test('cut after the API server was stopped, it needs no API', async (t) => {
    const it = await host(t, LEADERS);
    t.same(await it.run(quiesce), { kind: 'done' });
    t.equal(await it.holds(quiesce), true);
  });

  t.test('cut before the Leases, it deletes them', async (t) => {
    const it = await host(t, [API_SERVER]);
    const { requests } = await withLeases(t, it);
    await it.run(quiesce);
    t.equal(requests.length, 2);
  });

  t.test('with Leases that cannot be deleted the API server keeps running', async (t) => {
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
    const it = await host(t, LEADERS, () => [{ name: 'kube-scheduler' }]);
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
  const running = await host(t, [], () => [{ name: 'etcd' }]);
  t.equal(await running.holds(stopEtcd), false, 'its container still runs');
  t.ok(await running.waitsFor(stopEtcd, /Waiting for etcd to stop/));
});

t.test('control-plane', async (t) => {
  t.test('places the pods and waits for API and containers', async (t) => {
    const it = await host(t, [ETCD]);
    await fakeApi(t, it, { 'GET /readyz': () => (it.has(API_SERVER) ? {} : refuse(500)) });
    t.equal(await it.holds(controlPlane), false, 'before');
    t.same(await it.run(controlPlane), { kind: 'done' });
    for (const { component, manifest } of rendered.staticPods.slice(1)) {
      t.equal(it.read(podPath(component)), manifest);
      t.equal(it.mode(podPath(component)), 0o600);
    }
    t.equal(await it.holds(controlPlane), true, 'after');
    t.same(await it.run(controlPlane), { kind: 'done' }, 'again');
  });

  t.test('waits for each container', async (t) => {
    const it = await host(t, [], () => [{ name: 'kube-apiserver' }, { name: 'kube-scheduler' }]);
    await fakeApi(t, it, { 'GET /readyz': () => ({}) });
    t.ok(await it.waitsFor(controlPlane, /Waiting for .*kube-controller-manager.* to run/));
  });

  t.test('a changed manifest runs it again', async (t) => {
    const it = await host(t, []);
    const before = await controlPlane.input(it.context);
    await giveRendered(it, {
      staticPods: rendered.staticPods.map((pod) => ({ ...pod, manifest: 'another' })),
    });
    t.notSame(await controlPlane.input(it.context), before);
  });
});

t.test('etcd', async (t) => {
  const member = await fakeEtcd(t);
  const it = testHost(t, { endpoints: { etcd: member.url } });
  await giveRendered(it);
  t.equal(await it.holds(etcd), false, 'no certificates yet');
  member.giveAccess(it);
  t.equal(await it.holds(etcd), true);
  member.state.leader = '0';
  t.equal(await it.holds(etcd), false, 'no leader');
  member.state.leader = '7';
  t.match(await it.run(etcd), { kind: 'done', note: 'version 3.6.8, revision 12' });
  t.equal(it.read(ETCD), 'manifest of etcd\n');
  t.equal(it.mode(ETCD), 0o600);
  const before = await etcd.input(it.context);
  await giveRendered(it, {
    staticPods: rendered.staticPods.map((pod) => ({ ...pod, manifest: 'x' })),
  });
  t.not(await etcd.input(it.context), before, 'a changed manifest runs it again');
});

t.test('kubelet', async (t) => {
  /** What answers at the kubelet's health endpoint, for each question. */
  const health = (t: Test, ...answers: (number | 'refused')[]) => {
    const ask = t.capture(globalThis, 'fetch', async () => {
      const answer = answers.length > 1 ? answers.shift() : answers[0];
      if (answer === undefined || answer === 'refused') throw new TypeError('fetch failed');
      return new Response('', { status: answer });
    });
    return () => ask().map(({ args }) => String(args[0]));
  };

  t.test('is started with its new unit, and answers', async (t) => {
    const it = await host(t, []);
    it.programs.give('systemctl', 'echo ActiveState=activating; echo NRestarts=2');
    const asked = health(t, 'refused', 500, 200);
    t.same(await it.run(kubelet), { kind: 'done' });
    t.same(it.programs.calls().slice(0, 2), [
      'systemctl daemon-reload',
      'systemctl start --no-block kubelet.service',
    ]);
    t.match(it.lines.join(''), /kubelet\.service is activating, restarted 2 times/);
    t.equal(new Set(asked()).size, 1);
    t.equal(await it.holds(kubelet), true);
  });

  for (const answer of ['refused', 500] as const) {
    t.test(`does not hold: ${answer}`, async (t) => {
      const it = await host(t, []);
      health(t, answer);
      t.equal(await it.holds(kubelet), false);
    });
  }

  t.test('a systemd that refuses', async (t) => {
    const it = await host(t, []);
    health(t, 'refused');
    it.programs.give('systemctl', 'echo "Unit kubelet.service not found" >&2; exit 5');
    t.match(await it.failureOf(kubelet), { kind: 'retry', message: /not found/ });
  });

  t.test('changed files of it run it again', async (t) => {
    const it = await host(t, []);
    const before = await kubelet.input(it.context);
    await giveRendered(it, { files: rendered.files.map((file) => ({ ...file, contents: 'x' })) });
    t.notSame(await kubelet.input(it.context), before);
  });
});
