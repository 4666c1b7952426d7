/** What runs is stopped before what it writes is copied. */
import t from 'tap';
import { armSite } from '../../../../agents/reconfigure/arm.ts';
import { stopForSite } from '../../../../agents/reconfigure/stop.ts';
import { killedAtAnyMoment } from '../../engine/steps/killed-at-any-moment.ts';
import { recordFileOperations } from '../../host/file-operations.ts';
import { fakeRuntime } from '../host/runtime.ts';
import { arrived } from './site-host.ts';

t.test('stop: no kubelet, no pods; the change goes on with a copy of the database', async (t) => {
  const { host, run, holds } = await arrived(t);
  await run(armSite);
  let running = true;
  const stopped: string[] = [];
  const operations = await recordFileOperations(t, host.root);
  const record = (request: unknown) => {
    stopped.push(JSON.stringify(request));
    t.ok(host.programs.calls('systemctl').includes('systemctl stop kubelet.service'));
    if (stopped.length <= 2) t.same(operations.seen, [], 'a database in use is not copied');
    return {};
  };
  await fakeRuntime(t, host, () => [{ name: 'etcd', state: running ? 'running' : 'exited' }], {
    ListPodSandbox: () => ({ items: [{ id: 'pod-1', metadata: { name: 'etcd' } }] }),
    StopContainer: (request) => {
      running = false;
      return record(request);
    },
    StopPodSandbox: record,
  });
  t.notOk(await holds(stopForSite));
  await run(stopForSite);
  t.match(stopped, [/"id-of-etcd".*"30"/, /"pod-1"/], 'a database has time to end');
  const moved = operations.seen.indexOf('rename var/lib/etcd.site -> var/lib/etcd');
  for (const path of ['/member/snap/db', '/member/snap', '/member', '']) {
    const synced = operations.seen.indexOf(`sync var/lib/etcd.site${path}`);
    t.ok(synced >= 0 && synced < moved, `${path || 'the folder'} is durable before it is used`);
  }
  t.ok(operations.seen.indexOf('sync var/lib', moved) > moved);
  t.ok(await holds(stopForSite));
  t.ok(host.programs.calls('systemctl').includes('systemctl stop kubelet.service'));
  host.write('/var/lib/etcd/member/snap/db', 'the database of the site');
  t.equal(host.read('/var/lib/sno-agents/sno-trial/etcd/member/snap/db'), 'the database');
  await run(stopForSite);
  t.equal(host.read('/var/lib/etcd/member/snap/db'), 'the database of the site', 'copied once');
});

t.test('interrupted at any moment, the database is copied once and as a whole', async (t) => {
  const DATABASE = 'member/snap/db';
  await killedAtAnyMoment(t, {
    async prepare() {
      const it = await arrived(t);
      await it.run(armSite);
      await fakeRuntime(t, it.host, () => [], {
        ListPodSandbox: () => ({ items: [] }),
      });
      it.host.programs.forgetCalls();
      return it;
    },
    run: ({ run }) => run(stopForSite),
    allowed({ host }, when) {
      const calls = host.programs.calls('systemctl');
      const places = ['/var/lib/etcd', '/var/lib/sno-agents/sno-trial/etcd'];
      const found = places.filter((path) => host.has(path));
      t.not(found.length, 0, `${when}: no database`);
      for (const path of found) t.equal(host.read(`${path}/${DATABASE}`), 'the database', when);
      const isStopped = calls.includes('systemctl stop kubelet.service');
      t.ok(isStopped || !host.has('/var/lib/etcd.site'), `${when}: not of a running one`);
    },
    result: ({ host }) => ({
      site: host.read(`/var/lib/etcd/${DATABASE}`),
      before: host.read(`/var/lib/sno-agents/sno-trial/etcd/${DATABASE}`),
      mode: host.mode(`/var/lib/etcd/${DATABASE}`),
      left: host.has('/var/lib/etcd.site'),
    }),
    least: 8,
    isDurable: true,
  });
});
