/** What runs is stopped before what it writes is copied. */
import t from 'tap';
import { arm } from '../../../../../agents/node/reconfigure/arm.ts';
import { stop } from '../../../../../agents/node/reconfigure/stop.ts';
import { recordFileOperations } from '../../../host/file-operations.ts';
import { fakeRuntime } from '../../host/runtime.ts';
import { arrived } from './site-host.ts';

t.test('stop: no kubelet, no pods; the change goes on with a copy of the database', async (t) => {
  const { host, run, holds } = await arrived(t);
  await run(arm);
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
  t.notOk(await holds(stop));
  await run(stop);
  t.match(stopped, [/"id-of-etcd".*"30"/, /"pod-1"/], 'a database has time to end');
  const moved = operations.seen.indexOf('rename var/lib/etcd.site -> var/lib/etcd');
  for (const path of ['/member/snap/db', '/member/snap', '/member', '']) {
    const synced = operations.seen.indexOf(`sync var/lib/etcd.site${path}`);
    t.ok(synced >= 0 && synced < moved, `${path || 'the folder'} is durable before it is used`);
  }
  t.ok(operations.seen.indexOf('sync var/lib', moved) > moved);
  t.ok(await holds(stop));
  t.ok(host.programs.calls('systemctl').includes('systemctl stop kubelet.service'));
  host.write('/var/lib/etcd/member/snap/db', 'the database of the site');
  t.equal(host.read('/var/lib/sno-agents/sno-trial/etcd/member/snap/db'), 'the database');
  await run(stop);
  t.equal(host.read('/var/lib/etcd/member/snap/db'), 'the database of the site', 'copied once');
});
