import t, { type Test } from 'tap';
import { waitForSteadyState } from '../../../lib/kube/wait-for-steady-state.ts';
import { thrownBy } from '../errors/thrown-by.ts';
import { refusal, startFakeApi } from './fake-api.ts';

const PODS = '/api/v1/namespaces/kube-system/pods';
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
const NODE = '/api/v1/nodes/n1';
const booted = new Date(Date.now() - 60_000);
const now = () => new Date().toISOString();
const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();

const pod = (restarts: number) => ({
  metadata: {
    name: 'etcd-n1',
    namespace: 'kube-system',
    annotations: { 'kubernetes.io/config.mirror': 'h', 'kubernetes.io/config.hash': 'h' },
  },
  status: {
    phase: 'Running',
    conditions: [{ type: 'Ready', status: 'True' }],
    containerStatuses: [
      {
        name: 'etcd',
        restartCount: restarts,
        containerID: `c${restarts}`,
        state: { running: { startedAt: now() } },
      },
    ],
  },
});

/** A control plane that is as required from the first look. */
async function controlPlane(t: Test) {
  const { api, client } = await startFakeApi(t);
  const condition = { type: 'Ready', status: 'True', lastHeartbeatTime: now() };
  api.set(NODE, { metadata: { name: 'n1', uid: 'u' }, status: { conditions: [condition] } });
  api.set(`${PODS}/etcd-n1`, pod(3));
  api.set(`${LEASES}/kube-scheduler`, {
    metadata: { name: 'kube-scheduler', namespace: 'kube-system' },
    spec: {
      holderIdentity: 'n1_a',
      acquireTime: now(),
      renewTime: inAnHour(),
      leaseDurationSeconds: 15,
    },
  });
  let readiness = refusal(200, {});
  api.rule(({ path }) => (path === '/readyz' ? readiness : undefined));
  const wait = (
    settlingWindowMs: number,
    deadlineMs: number,
    report: (text: string) => void = () => {},
  ) =>
    waitForSteadyState(
      client,
      {
        nodeName: 'n1',
        bootTime: booted,
        components: ['etcd'],
        leases: ['kube-scheduler'],
        settlingWindowMs,
      },
      { signal: AbortSignal.timeout(120_000), deadlineMs, report },
    );
  const answerReadiness = (code: number) => {
    readiness = refusal(code, {});
  };
  return { api, wait, answerReadiness };
}

t.test('a control plane that rests returns its restarts', async (t) => {
  const { api, wait } = await controlPlane(t);
  const restarts = await wait(500, 60_000);
  t.strictSame(restarts, [{ pod: 'etcd-n1', container: 'etcd', count: 3 }]);
  const pods = api.requests.find(({ path, query }) => path === PODS && query.watch === undefined);
  t.match(pods?.query, { fieldSelector: 'spec.nodeName=n1' });
  const nodes = api.requests.find(({ path }) => path === '/api/v1/nodes');
  t.match(nodes?.query, { fieldSelector: 'metadata.name=n1' });
  await api.idle();
});

t.test('nothing is settled before readiness was asked for', async (t) => {
  const { api, wait } = await controlPlane(t);
  const reports: string[] = [];
  await wait(0, 60_000, (text) => reports.push(text));
  t.match(reports[0], /not sent all objects|not been asked/);
  t.ok(reports.some((text) => /has not been asked yet/.test(text)));
  t.ok(api.requests.some(({ path }) => path === '/readyz'));
});

t.test('an API that is not ready, or not watched, is not evidence', async (t) => {
  const { api, wait, answerReadiness } = await controlPlane(t);
  answerReadiness(500);
  t.match(await thrownBy(wait(0, 2500)), {
    kind: 'deadline',
    details: { expected: 'no change for 0s', found: /readyz answers 500/ },
  });
  answerReadiness(200);
  api.rule(({ path, query }) =>
    path === LEASES && query.watch === 'true' ? refusal(503, { message: 'no leases' }) : undefined,
  );
  let isLost = false;
  const reports: string[] = [];
  const late = wait(60_000, 3000, (text) => {
    reports.push(text);
    isLost ||= /no leases/.test(text);
  });
  t.match(await thrownBy(late), { kind: 'deadline' });
  t.ok(isLost, 'a lost watch is reported');
});

t.test('a change during the window restarts it', async (t) => {
  const { api, wait } = await controlPlane(t);
  const reports: string[] = [];
  let changed = false;
  const restarts = await wait(1500, 60_000, (text) => {
    reports.push(text);
    if (changed || !text.startsWith('nothing has changed since')) return;
    changed = true;
    setImmediate(() => api.set(`${PODS}/etcd-n1`, pod(4)));
  });
  t.strictSame(restarts, [{ pod: 'etcd-n1', container: 'etcd', count: 4 }]);
  t.ok(reports.some((text) => /^changed: .*etcd-n1\/etcd restarts: 3 -> 4/.test(text)));
});

t.test('a node that is deleted is noticed', async (t) => {
  const { api, wait } = await controlPlane(t);
  const late = wait(60_000, 3000, (text) => {
    if (text.startsWith('nothing has changed since')) setImmediate(() => api.delete(NODE));
  });
  t.match(await thrownBy(late), { kind: 'deadline', details: { found: /not registered/ } });
});

t.test('a signal ends it with its reason', async (t) => {
  const { client } = await startFakeApi(t);
  const stop = new AbortController();
  const required = {
    nodeName: 'n1',
    bootTime: booted,
    components: [],
    leases: [],
    settlingWindowMs: 0,
  };
  const running = waitForSteadyState(client, required, {
    signal: stop.signal,
    deadlineMs: 60_000,
    report: () => stop.abort(new Error('told to stop')),
  });
  await t.rejects(running, /told to stop/);
});
