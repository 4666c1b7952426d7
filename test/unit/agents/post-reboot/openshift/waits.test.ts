import t from 'tap';
import { installComplete } from '../../../../../agents/post-reboot/openshift/install-complete.ts';
import { takeOver } from '../../../../../agents/post-reboot/openshift/take-over.ts';
import { readRevisions } from '../../../../../agents/steps/revisions.ts';
import { refuse } from '../../host/api.ts';
import { clusterObjects, openShiftApi, openShiftHost } from './cluster-objects.ts';

const COUNTS = 'revisions: etcd 2, kube-apiserver 2, kube-controller-manager 2, kube-scheduler 2';

for (const step of [takeOver, installComplete]) {
  t.test(`${step.name}: ends when all is well, and logs each revision once`, async (t) => {
    const host = openShiftHost(t);
    await openShiftApi(t, host, clusterObjects());
    t.same(await host.run(step), { kind: 'done', note: COUNTS });
    const log = host.lines.join('');
    t.match(log, /kube-scheduler: revision 1: the operator's first/);
    t.match(log, /etcd: revision 2: required secret\/of-etcd has changed/);
    t.equal((await readRevisions(host.paths)).length, 8);
    host.lines.length = 0;
    t.same(await host.run(step), { kind: 'done', note: COUNTS }, 'a second run');
    t.notMatch(host.lines.join(''), /revision 1/);
    t.equal(await host.holds(step), true);
  });

  for (const component of ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler']) {
    t.test(`${step.name}: waits for ${component}`, async (t) => {
      const host = openShiftHost(t);
      await openShiftApi(t, host, clusterObjects({ notTakenOver: [component] }));
      const says = new RegExp(`${component}: the bootstrap's pod runs`);
      t.ok(await host.waitsFor(step, says));
      const revision = new RegExp(`${component}: revision 2`);
      t.match(host.lines.join(''), revision, 'its revisions are shown meanwhile');
    });
  }
}

t.test('take-over does not wait for the version', async (t) => {
  const host = openShiftHost(t);
  const answers = clusterObjects({ notInstalled: true });
  answers['GET /apis/config.openshift.io/v1/clusterversions'] = () => refuse(404);
  await openShiftApi(t, host, answers);
  t.match(await host.run(takeOver), { kind: 'done' });
});

t.test('install-complete waits for the version', async (t) => {
  const host = openShiftHost(t);
  await openShiftApi(t, host, clusterObjects({ notInstalled: true }));
  t.ok(await host.waitsFor(installComplete, /the version has Available=False: almost/));
});

t.test('an operator whose kind is not served yet has not started', async (t) => {
  const host = openShiftHost(t);
  const answers = clusterObjects();
  answers['GET /apis/operator.openshift.io/v1/etcds'] = () => refuse(404);
  await openShiftApi(t, host, answers);
  t.ok(await host.waitsFor(takeOver, /etcd: its operator has not started/));
});

t.test('the deadline names what was missing', async (t) => {
  const host = openShiftHost(t);
  await openShiftApi(t, host, clusterObjects({ notTakenOver: ['etcd'] }));
  const failed = await takeOver
    .run(host.context, host.progress(undefined, 1500))
    .catch((error: unknown) => error);
  t.match(failed, { kind: 'deadline', message: /take over the static pods/ });
  t.match(String(failed), /etcd: the bootstrap's pod runs/);
});
