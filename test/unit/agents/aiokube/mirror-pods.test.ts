import t from 'tap';
import { mirrorPods } from '../../../../agents/aiokube/mirror-pods.ts';
import { fakeApi, listOf } from '../host/api.ts';
import { testHost } from '../host/host.ts';
import { giveRendered } from '../host/rendered.ts';
import { endPauses } from '../host/timers.ts';

const NODES = 'GET /api/v1/nodes';
const PODS = 'GET /api/v1/namespaces/kube-system/pods';
const named = (name: string) => ({ metadata: { name, uid: name, namespace: 'kube-system' } });
const node = listOf({ metadata: { name: 'edge-0', uid: 'u' } });
const both = listOf(named('etcd-edge-0'), named('kube-apiserver-edge-0'));
const PREPARED = '/run/sno-agents/kubelet-prepared';

t.test('the mirror pods of what runs before the API server', async (t) => {
  t.test('were refused: the kubelet is restarted once, and creates them', async (t) => {
    const host = testHost(t);
    await giveRendered(host);
    // The API server had restarted meanwhile, which its kubelet notices.
    let created = listOf(named('kube-apiserver-edge-0'));
    await fakeApi(t, host, { [NODES]: () => node, [PODS]: () => created });
    host.programs.give('systemctl', `[ -e "$ROOT${PREPARED}" ] || exit 97`);
    t.capture(globalThis, 'fetch', async () => {
      created = both;
      return new Response('ok');
    });
    endPauses(t, 5000);
    t.match(await host.run(mirrorPods), { kind: 'done', note: /restart of the kubelet/ });
    t.same(
      host.programs.calls(),
      ['systemctl restart kubelet.service'],
      'without the units that it requires, which have just run',
    );
    t.notOk(host.has(PREPARED), 'later starts verify the payload');
    t.same(await host.run(mirrorPods), { kind: 'done' }, 'again');
    t.equal(host.programs.calls().length, 1);
  });

  t.test('exist, or come a moment later: nothing is restarted', async (t) => {
    const host = testHost(t);
    await giveRendered(host);
    const answers = [listOf(), listOf(named('etcd-edge-0')), both];
    await fakeApi(t, host, { [NODES]: () => node, [PODS]: () => answers.shift() ?? both });
    endPauses(t, 5000);
    t.same(await host.run(mirrorPods), { kind: 'done' });
    t.same(answers, []);
  });

  t.test('come with the Node, which is registered later', async (t) => {
    const host = testHost(t);
    await giveRendered(host);
    const { requests } = await fakeApi(t, host, { [NODES]: () => listOf() });
    t.match(await host.run(mirrorPods), { kind: 'done', note: /registers its Node/ });
    t.same(requests, [NODES]);
  });

  t.test('says what is missing while it waits for the kubelet', async (t) => {
    const host = testHost(t);
    await giveRendered(host);
    await fakeApi(t, host, { [NODES]: () => node, [PODS]: () => listOf() });
    host.programs.give('systemctl', '');
    t.capture(globalThis, 'fetch', async () => new Response('ok'));
    t.ok(await host.waitsFor(mirrorPods, /static pods in the API: etcd-edge-0, kube-apiserver/));
  });
});
