/** Nodes that no Site updates: `sno fleet jobs` prints nothing for them, and a worker that is asked all the same says why. */
import t from 'tap';
import { sno } from '../../unit/cli/run-sno.ts';
import { skipWithout } from '../media/images.ts';
import { NAMESPACE, startHub } from './hub.ts';

const skip = await skipWithout('xorriso', 'ssh-keygen');
if (skip) {
  t.pass('xorriso and ssh-keygen are not installed', { skip: true });
  process.exit();
}
const hub = await startHub(t);
const update = { url: 'https://updates.example.com/1', serial: 170 };
const jobs = () =>
  sno([
    ...['fleet', 'jobs', '--selector', 'wave=1', '--namespace', NAMESPACE],
    ...['--kubeconfig', hub.kubeconfig, '--image', 'registry.example.com/sno:1'],
    ...['--publish-url', 'https://volumes.example.com'],
    ...['--hub-server', 'https://hub.example.com:6443'],
  ]);

t.test('a node that a Job of this hub has moved', async (t) => {
  await hub.machine('m-1');
  await hub.newSite('moved', 'm-1');
  t.equal((await hub.run('deliver', 'moved')).code, 0);
  await hub.apply('moved', { spec: { action: 'update', serial: 2, update } }, 'test');
  const { code, out, err } = await jobs();
  t.equal(code, 0, err);
  t.match(out, /kind: Job/);
});

t.test('one that was never heard of, such as a worker', async (t) => {
  await hub.newSite('worker-1', 'none', { action: 'update', serial: undefined, update });
  t.match(await jobs(), {
    ...{ code: 2, out: '' },
    err: /hear of it; nothing was printed.*found action update in worker-1\. Run .sno-update run/s,
  });
  await hub.apply('worker-1', { spec: { action: 'none' } }, 'test');
});

t.test('OpenShift', async (t) => {
  await hub.machine('m-2', { controlPlane: 'openshift' });
  // It keeps the name of its cluster.
  await hub.newSite('okd', 'm-2', { values: { name: 'factory', machine: 'm-2' } });
  const moved = await hub.run('deliver', 'okd');
  t.equal(moved.code, 0, moved.err);
  t.equal((await jobs()).code, 0, 'it is moved as others are');
  await hub.apply('okd', { spec: { action: 'update', serial: 2, update } }, 'test');
  const refused = /OpenShift updates itself, and takes no update of a Site.*oc adm upgrade/s;
  t.match(await jobs(), { code: 2, out: '', err: refused });
  t.match(await hub.run('deliver', 'okd'), { code: 2, err: refused });
  t.match(await hub.condition('okd', 'Rendered'), { status: 'False', reason: 'update-refused' });
  t.equal((await jobs()).code, 2, 'what is known of it stays');
});
