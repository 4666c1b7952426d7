import t from 'tap';
import { api } from '../../../../agents/steps/api.ts';
import { fakeApi, listOf, refuse } from '../host/api.ts';
import { testHost } from '../host/host.ts';
import { type FakeContainer, fakeRuntime } from '../host/runtime.ts';

const AFTER_BOOT = '2030-01-01T00:00:01Z';
const ready = () => ({});
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';

t.test('api', async (t) => {
  t.test('starts the kubelet and waits for the API', async (t) => {
    const host = testHost(t);
    host.programs.give('systemctl', '[ "$1" = start ]');
    await fakeRuntime(t, host, () => []);
    const { requests } = await fakeApi(t, host, {
      'GET /readyz': ready,
      [`GET ${LEASES}`]: () => listOf(),
    });
    t.same(await host.run(api), { kind: 'done' });
    t.same(host.programs.calls(), ['systemctl start --no-block kubelet.service']);
    t.same(requests, ['GET /readyz', `GET ${LEASES}`]);
    t.equal(await host.holds(api), true);
  });

  const name = 'kube-controller-manager';
  const earlier = { name, createdAt: '2030-01-01T00:00:00Z' };
  const later = { name, createdAt: '2030-01-01T00:00:02Z' };
  const held = { holderIdentity: 'edge-0_x', acquireTime: AFTER_BOOT };
  const leaders: [title: string, spec: object, FakeContainer[], isDeleted: boolean][] = [
    ['whose container runs', held, [earlier], false],
    [
      'whose container runs, beside one that has ended',
      held,
      [{ ...later, state: 'exited' }, earlier],
      false,
    ],
    ['whose container has ended', held, [{ ...earlier, state: 'exited' }], true],
    ['whose container has a successor', held, [{ ...earlier, state: 'exited' }, later], true],
    ['whose container is gone, while others run', held, [{ ...earlier, name: 'etcd' }], true],
    ['of nobody', { ...held, holderIdentity: '' }, [later], false],
  ];
  for (const [title, spec, containers, isDeleted] of leaders) {
    t.test(`the Lease of a leader ${title}`, async (t) => {
      const host = testHost(t);
      host.programs.give('systemctl', 'exit 0');
      await fakeRuntime(t, host, () => containers);
      const { requests } = await fakeApi(t, host, {
        'GET /readyz': ready,
        [`GET ${LEASES}`]: () =>
          listOf(
            { metadata: { name, namespace: 'kube-system' }, spec },
            { metadata: { name: 'of-a-workload', namespace: 'kube-system' }, spec: held },
          ),
        [`DELETE ${LEASES}/${name}`]: () => ({}),
      });
      t.same(await host.run(api), { kind: 'done' });
      const deletions = requests.filter((each) => each.startsWith('DELETE'));
      t.same(deletions, isDeleted ? [`DELETE ${LEASES}/${name}`] : []);
      t.equal(host.lines.join('').includes(`the Lease of ${name}: its holder`), isDeleted);
    });
  }

  t.test('says which check fails', async (t) => {
    const host = testHost(t);
    host.programs.give('systemctl', 'exit 0');
    await fakeApi(t, host, { 'GET /readyz': () => refuse(500) });
    t.ok(
      await host.waitsFor(api, /Waiting for the API server to be ready: \/readyz returned 500/),
      host.lines.join(''),
    );
  });
});
