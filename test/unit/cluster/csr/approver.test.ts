import t, { type Test } from 'tap';
import { approveServingRequests } from '../../../../lib/cluster/csr/approver.ts';
import type { Decision } from '../../../../lib/cluster/csr/decision.ts';
import type { HostView } from '../../../../lib/cluster/csr/views.ts';
import { refusal, startFakeApi } from '../../clients/kube/fake-api.ts';
import { host, recentRequest } from './requests.ts';

const REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const NODES = '/api/v1/nodes';
const NODE = host.nodeName;

const nodeWith = (address: string) => ({
  metadata: { name: NODE },
  status: { addresses: [{ type: 'InternalIP', address }] },
});

const twoAddresses: HostView = { ...host, nodeIps: ['192.0.2.10', '192.0.2.77'] };

/** `next` returns the outcome of each request in order; it fails as soon as the approver ends. */
async function startApprover(t: Test, view: () => Promise<HostView> = async () => twoAddresses) {
  const { api, client } = await startFakeApi(t);
  api.set(`${NODES}/${NODE}`, nodeWith('192.0.2.10'));
  const stop = new AbortController();
  t.teardown(() => stop.abort());
  const decisions: Decision[] = [];
  let reported = Promise.withResolvers<void>();
  const running = approveServingRequests(client, {
    signal: stop.signal,
    nodeName: NODE,
    host: view,
    report: (decision) => {
      decisions.push(decision);
      reported.resolve();
    },
  });
  running.catch(() => {});
  const next = async () => {
    if (decisions.length === 0) await Promise.race([reported.promise, running]);
    reported = Promise.withResolvers<void>();
    const { request, judgement } = decisions.shift() ?? { request: 'none', judgement: undefined };
    return { request, ...judgement };
  };
  return { api, stop, running, decisions, next };
}

t.test('requests are decided when they appear and when the node changes', async (t) => {
  const { api, next, decisions } = await startApprover(t);
  api.set(`${REQUESTS}/right`, await recentRequest('right'));
  t.strictSame(await next(), { request: 'right', verdict: 'approve' });
  const moved = await recentRequest('moved', {
    names: [
      { type: 'dns', value: NODE },
      { type: 'ip', value: '192.0.2.77' },
    ],
  });
  api.set(`${REQUESTS}/moved`, moved);
  t.match(await next(), { request: 'moved', verdict: 'leave', rule: 'names' });
  api.set(`${NODES}/${NODE}`, nodeWith('192.0.2.77'));
  t.strictSame(await next(), { request: 'moved', verdict: 'approve' });
  api.set(`${REQUESTS}/late`, await recentRequest('late', { names: [] }));
  t.match(await next(), { request: 'late', verdict: 'leave', rule: 'names' });
  api.delete(`${NODES}/${NODE}`);
  t.match(await next(), { request: 'late', verdict: 'leave', rule: 'node-addresses' });
  t.strictSame(decisions, [], 'nothing is reported twice');
  const lists = api.requests.filter(({ query }) => query.watch === undefined);
  t.match(
    lists.find(({ path }) => path === NODES),
    { query: { fieldSelector: `metadata.name=${NODE}` } },
    'no other node is asked for',
  );
});

t.test('an approval that the API refuses is retried', async (t) => {
  const { api, next } = await startApprover(t);
  let refusals = 0;
  api.rule(({ method }) => (method === 'PUT' && ++refusals === 1 ? refusal(503, {}) : undefined));
  api.set(`${REQUESTS}/right`, await recentRequest('right'));
  t.match(await next(), { verdict: 'failed', rule: 'api' });
  t.strictSame(await next(), { request: 'right', verdict: 'approve' });
});

t.test('it ends with the reason of its signal, and leaves no watch', async (t) => {
  const { api, stop, running, next } = await startApprover(t);
  api.set(`${REQUESTS}/right`, await recentRequest('right'));
  await next();
  stop.abort(new Error('told to stop'));
  await t.rejects(running, /told to stop/);
  await api.idle();
});

t.test('an error of the host ends it, and leaves no watch', async (t) => {
  const broken = () => Promise.reject(new Error('no interfaces'));
  const { api, running } = await startApprover(t, broken);
  api.set(`${REQUESTS}/right`, await recentRequest('right'));
  await t.rejects(running, /no interfaces/);
  await api.idle();
});
