import t, { type Test } from 'tap';
import { waitForSteadyState } from '../../../../lib/clients/kube/wait-for-steady-state.ts';
import { thrownBy } from '../../base/errors/thrown-by.ts';
import { refusal, startFakeApi } from './fake-api.ts';
import { stopClock } from './stopped-clock.ts';

const PODS = '/api/v1/namespaces/kube-system/pods';
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
const SERVICES = '/apis/apiregistration.k8s.io/v1/apiservices';
const NODE = '/api/v1/nodes/n1';
/** The stopped clock starts at noon. */
const BOOTED = '2030-01-01T11:59:00Z';
const ASKED = 'readiness has not been checked yet';

const pod = (name: string, restarts?: number) => ({
  metadata: {
    name: `${name}-n1`,
    namespace: 'kube-system',
    annotations: { 'kubernetes.io/config.mirror': 'h', 'kubernetes.io/config.hash': 'h' },
  },
  status: {
    phase: 'Running',
    conditions: [{ type: 'Ready', status: 'True' }],
    ...(restarts === undefined
      ? {}
      : {
          containerStatuses: [
            {
              name: 'main',
              restartCount: restarts,
              containerID: `c${restarts}`,
              state: { running: { startedAt: BOOTED } },
            },
          ],
        }),
  },
});

/** A control plane that meets all conditions from the start, and a wait for it. */
async function controlPlane(t: Test, settlingWindowMs: number, deadlineMs = 3_600_000) {
  const clock = stopClock(t);
  const { api, client } = await startFakeApi(t);
  const condition = { type: 'Ready', status: 'True', lastHeartbeatTime: BOOTED };
  api.set(NODE, { metadata: { name: 'n1', uid: 'u' }, status: { conditions: [condition] } });
  api.set(`${PODS}/etcd-n1`, pod('etcd', 3));
  api.set(`${LEASES}/kube-scheduler`, {
    metadata: { name: 'kube-scheduler', namespace: 'kube-system' },
    spec: {
      holderIdentity: 'n1_a',
      acquireTime: BOOTED,
      renewTime: '2030-01-01T13:00:00Z',
      leaseDurationSeconds: 15,
    },
  });
  let readiness = 200;
  api.rule(({ path }) => (path === '/readyz' ? refusal(readiness, {}) : undefined));
  const reports: string[] = [];
  const stop = new AbortController();
  const start = () => {
    const required = {
      nodeName: 'n1',
      bootTime: new Date(BOOTED),
      components: ['etcd'],
      leases: ['kube-scheduler'],
      settlingWindowMs,
    };
    const report = (text: string) => reports.push(text);
    return waitForSteadyState(client, required, { signal: stop.signal, deadlineMs, report });
  };
  const watched = async () => {
    for (const path of ['/api/v1/nodes', PODS, LEASES, SERVICES]) {
      while (api.watchers(path) === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const reported = async (pattern: RegExp) => {
    while (!pattern.test(reports.at(-1) ?? '')) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const answerReadiness = (code: number) => {
    readiness = code;
  };
  return { api, clock, reports, start, stop, watched, reported, answerReadiness };
}

t.test('a control plane that rests for the window returns its restarts', async (t) => {
  const { api, clock, reports, start, watched } = await controlPlane(t, 2500);
  api.set(`${PODS}/other-n1`, pod('other'));
  const running = start();
  await watched();
  t.strictSame(reports, [ASKED], 'nothing is settled before readiness was asked for');
  for (const _ of [1, 2, 3, 4]) t.equal(await clock.wake(), 1000);
  t.strictSame(await running, [{ pod: 'etcd-n1', container: 'main', count: 3 }]);
  t.strictSame(reports, [ASKED, 'nothing has changed since 2030-01-01T12:00:01.000Z']);
  const queries = api.requests.filter(({ query }) => query.watch === undefined);
  t.strictSame(
    queries.slice(0, 4).map(({ path, query }) => [path, query.fieldSelector]),
    [
      ['/api/v1/nodes', 'metadata.name=n1'],
      [PODS, 'spec.nodeName=n1'],
      [LEASES, undefined],
      [SERVICES, undefined],
    ],
  );
  await api.idle();
});

t.test('an API that is not ready is not evidence', async (t) => {
  const { api, clock, reports, start, watched, answerReadiness } = await controlPlane(t, 0);
  answerReadiness(500);
  const running = start();
  await watched();
  await clock.wake();
  await clock.sleeping();
  t.strictSame(reports, [ASKED, '/readyz returned 500']);
  answerReadiness(200);
  await clock.wake();
  t.match(await running, [{ count: 3 }], 'a window of no length ends at the first look');
  await api.idle();
});

t.test('a lost watch is not evidence until it is re-established', async (t) => {
  const { api, clock, reports, start, watched, reported } = await controlPlane(t, 5000);
  const running = start();
  await watched();
  await clock.wake();
  await clock.sleeping();
  const replies = [refusal(503, { message: 'no leases' })];
  api.rule(({ path }) => (path === LEASES ? replies.shift() : undefined));
  api.cut(LEASES);
  await reported(/^GET .*leases/);
  t.equal(await clock.wake(), 100, 'it is listed again');
  await reported(/503 no leases$/);
  t.equal(await clock.wake(), 200);
  await reported(/^nothing has changed since 2030-01-01T12:00:01\.300Z$/);
  for (let rounds = 0; rounds < 6; rounds++) await clock.wake();
  await running;
  t.equal(reports.length, 5, 'nothing else');
});

t.test('a change during the window restarts it', async (t) => {
  const { api, clock, reports, start, watched, reported } = await controlPlane(t, 2000);
  const running = start();
  await watched();
  await clock.wake();
  await clock.wake();
  await clock.sleeping();
  api.set(`${PODS}/etcd-n1`, pod('etcd', 4));
  await reported(/^changed/);
  await clock.wake();
  await clock.sleeping();
  t.strictSame(reports, [
    ASKED,
    'nothing has changed since 2030-01-01T12:00:01.000Z',
    'changed: etcd-n1/main restarts: 3 -> 4; etcd-n1/main container: c3 -> c4',
    'nothing has changed since 2030-01-01T12:00:02.000Z',
  ]);
  await clock.wake();
  t.match(await running, [{ pod: 'etcd-n1', count: 4 }]);
});

t.test('at the deadline the wait fails and says what did not settle', async (t) => {
  const { api, clock, start, watched, reported } = await controlPlane(t, 60_000, 3400);
  const running = thrownBy(start());
  await watched();
  await clock.wake();
  await clock.sleeping();
  api.delete(NODE);
  await reported(/not registered; node: u -> none$/);
  api.set(`${PODS}/etcd-n1`, { ...pod('etcd', 3), status: { phase: 'Pending' } });
  await reported(/etcd-n1 is Pending/);
  clock.pass(2400);
  t.match(await running, {
    kind: 'deadline',
    message: /^the control plane did not settle within 3s/,
    details: {
      expected: 'no change for 60s',
      found: /^the node is not registered; pod etcd-n1 is Pending; /,
    },
  });
  await api.idle();
});

t.test('an API that never answers is reported at the deadline', async (t) => {
  const { api, clock, start } = await controlPlane(t, 0, 0.5);
  api.rule(() => new Promise(() => {}));
  const running = thrownBy(start());
  await clock.sleeping();
  t.equal(clock.deadlines[0], 1, 'whole milliseconds');
  clock.pass(1);
  t.match(await running, {
    kind: 'deadline',
    details: { found: 'nothing: the API server has not answered' },
  });
});

t.test('a signal ends it with its reason', async (t) => {
  const { api, clock, start, stop, watched } = await controlPlane(t, 0);
  const running = start();
  await watched();
  await clock.sleeping();
  stop.abort(new Error('told to stop'));
  await t.rejects(running, /^told to stop$|told to stop/);
  await api.idle();
});

t.test('malformed objects end it', async (t) => {
  const { api, start } = await controlPlane(t, 0);
  api.rule(({ path }) => (path === LEASES ? { code: 200, body: {} } : undefined));
  await t.rejects(start(), /leases: the answer is not as expected: /);
});
