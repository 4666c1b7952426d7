import t, { type Test } from 'tap';
import { approveServingRequests } from '../../../lib/csr/approver.ts';
import { type Decision, describeDecision } from '../../../lib/csr/decision.ts';
import type { CertificateSigningRequest } from '../../../lib/kube/resources.ts';
import { refusal, startFakeApi } from '../kube/fake-api.ts';
import { host, requestObject, type Variation } from './requests.ts';

const REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const NODES = '/api/v1/nodes';
const NODE = host.nodeName;

const nodeWith = (...addresses: string[]) => ({
  metadata: { name: NODE },
  status: { addresses: addresses.map((address) => ({ type: 'InternalIP', address })) },
});

/** A request made a minute ago, as the kubelet makes it unless varied. */
async function request(name: string, variation: Variation = {}) {
  const created = new Date(Date.now() - 60_000).toISOString();
  const object = await requestObject({ created, ...variation });
  return { ...object, metadata: { ...object.metadata, name, uid: `uid of ${name}` } };
}

async function startApprover(
  t: Test,
  issued?: (request: CertificateSigningRequest) => boolean | Promise<boolean>,
) {
  const { api, client } = await startFakeApi(t);
  api.set(`${NODES}/${NODE}`, nodeWith('192.0.2.10'));
  const stop = new AbortController();
  t.teardown(() => stop.abort());
  const decisions: Decision[] = [];
  const waiting = new Set<() => void>();
  const running = approveServingRequests(client, {
    signal: stop.signal,
    nodeName: NODE,
    host: async () => host,
    report: (decision) => {
      decisions.push(decision);
      for (const wake of waiting) wake();
    },
    ...(issued === undefined ? {} : { issued }),
  });
  running.catch(() => {});
  /** The first decision on that request, after so many before it. */
  const decision = async (name: string, after = 0) => {
    for (;;) {
      const found = decisions.filter((it) => it.request === name)[after];
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => waiting.add(resolve));
    }
  };
  const approvals = () => api.requests.filter(({ method }) => method === 'PUT');
  return { api, stop, running, decisions, decision, approvals };
}

t.test("the node's own request is approved as the approval subresource wants it", async (t) => {
  const { api, decision, approvals } = await startApprover(t);
  const right = await request('right');
  api.set(`${REQUESTS}/right`, right);
  t.strictSame(await decision('right'), {
    request: 'right',
    requestor: `system:node:${NODE}`,
    signer: 'kubernetes.io/kubelet-serving',
    judgement: { verdict: 'approve' },
  });
  const [approval] = approvals();
  t.equal(approval?.path, `${REQUESTS}/right/approval`);
  t.match(approval?.body, {
    metadata: { name: 'right', uid: 'uid of right' },
    spec: right.spec,
    status: {
      conditions: [
        { type: 'Approved', status: 'True', reason: 'NodeServingCertificate', message: NODE },
      ],
    },
  });
  t.match(approval?.body, { status: { conditions: [{ lastUpdateTime: /^\d{4}-.*Z$/ }] } });
});

t.test('what the judge leaves is never approved', async (t) => {
  const { api, decision, approvals } = await startApprover(t);
  api.set(`${REQUESTS}/foreign`, await request('foreign', { spec: { username: 'system:admin' } }));
  t.match(await decision('foreign'), { judgement: { verdict: 'leave', rule: 'requestor' } });
  api.set(`${REQUESTS}/right`, await request('right'));
  await decision('right');
  t.strictSame(
    approvals().map(({ path }) => path),
    [`${REQUESTS}/right/approval`],
  );
});

t.test('a request without a user is reported as of nobody', async (t) => {
  const { api, decision } = await startApprover(t);
  const object = await request('anonymous');
  const { username: _, ...spec } = object.spec;
  api.set(`${REQUESTS}/anonymous`, { ...object, spec });
  t.match(await decision('anonymous'), { requestor: '', judgement: { rule: 'requestor' } });
});

t.test('decided requests are neither judged nor approved', async (t) => {
  const { api, decision, decisions, approvals } = await startApprover(t);
  const status = { conditions: [{ type: 'Denied', status: 'True' }] };
  api.set(`${REQUESTS}/denied`, await request('denied', { status }));
  api.set(`${REQUESTS}/done`, await request('done', { status: { certificate: 'YQ==' } }));
  api.set(`${REQUESTS}/right`, await request('right'));
  await decision('right');
  t.strictSame(
    decisions.map((it) => it.request),
    ['right'],
  );
  t.equal(approvals().length, 1);
});

t.test('a changed node has every request judged again', async (t) => {
  const { api, decision, decisions } = await startApprover(t);
  api.set(`${NODES}/${NODE}`, nodeWith('198.51.100.7'));
  api.set(`${REQUESTS}/early`, await request('early'));
  t.match(await decision('early'), { judgement: { rule: 'node-addresses' } });
  api.set(`${NODES}/${NODE}`, nodeWith('192.0.2.10'));
  t.match(await decision('early', 1), { judgement: { verdict: 'approve' } });
  t.equal(decisions.length, 2, 'each decision is reported once');
});

t.test('a node that was deleted has no addresses any more', async (t) => {
  const { api, decision } = await startApprover(t);
  api.set(`${REQUESTS}/foreign`, await request('foreign', { spec: { username: 'other' } }));
  await decision('foreign');
  api.delete(`${NODES}/${NODE}`);
  api.set(`${REQUESTS}/late`, await request('late'));
  t.match(await decision('late'), { judgement: { verdict: 'leave', rule: 'node-addresses' } });
});

t.test('an approval that the API refuses is reported and tried again', async (t) => {
  const { api, decision, decisions } = await startApprover(t);
  let refusals = 0;
  api.rule(({ method }) =>
    method === 'PUT' && ++refusals <= 2 ? refusal(503, { message: 'starting' }) : undefined,
  );
  api.set(`${REQUESTS}/right`, await request('right'));
  const failed = await decision('right');
  t.match(failed, { judgement: { verdict: 'failed', rule: 'api', explanation: /503 starting/ } });
  t.match(
    describeDecision(failed),
    /^Could not approve request right of system:node:.*503 starting/,
  );
  t.match(await decision('right', 1), { judgement: { verdict: 'approve' } });
  t.equal(decisions.length, 2, 'the same refusal is reported once');
});

t.test('a request that changed or vanished meanwhile is not a failure', async (t) => {
  for (const code of [409, 404]) {
    const { api, decision, decisions } = await startApprover(t);
    api.rule(({ method, path }) =>
      method === 'PUT' && path.includes('/gone/') ? refusal(code, {}) : undefined,
    );
    api.set(`${REQUESTS}/gone`, await request('gone'));
    api.set(`${REQUESTS}/right`, await request('right'));
    await decision('right');
    t.strictSame(
      decisions.map((it) => it.request),
      ['right'],
      `${code}`,
    );
  }
});

t.test('ends when its own certificates are enough, each asked about once', async (t) => {
  const asked: string[] = [];
  const { api, running, decision } = await startApprover(t, ({ metadata }) => {
    asked.push(metadata.name);
    return metadata.name === 'second';
  });
  const certificate = 'YQ==';
  const issued = { status: { certificate } };
  const foreign = { ...issued, spec: { username: 'system:node:other' } };
  const client = { ...issued, spec: { signerName: 'kubernetes.io/kube-apiserver-client-kubelet' } };
  api.set(`${REQUESTS}/foreign`, await request('foreign', foreign));
  api.set(`${REQUESTS}/client`, await request('client', client));
  api.set(`${REQUESTS}/first`, await request('first', issued));
  api.set(`${REQUESTS}/pending`, await request('pending', { spec: { usages: [] } }));
  await decision('pending');
  api.set(`${REQUESTS}/second`, await request('second', issued));
  await running;
  t.strictSame(asked, ['first', 'second']);
});

t.test('a request created again under its name is another one', async (t) => {
  const asked: (string | undefined)[] = [];
  const { api, running, decision } = await startApprover(t, ({ metadata }) => {
    asked.push(metadata.uid);
    return metadata.name === 'last';
  });
  const issued = { status: { certificate: 'YQ==' } };
  const again = async (name: string, uid: string, variation: Variation) => {
    const object = await request(name, variation);
    api.set(`${REQUESTS}/${name}`, { ...object, metadata: { ...object.metadata, uid } });
  };
  const foreign = { spec: { username: 'other' } };
  await again('own', '1', issued);
  await again('foreign', '1 of foreign', foreign);
  await decision('foreign');
  await again('own', '2', issued);
  await again('foreign', '2 of foreign', foreign);
  t.match(await decision('foreign', 1), { judgement: { rule: 'requestor' } });
  await again('last', '3', issued);
  await running;
  t.strictSame(asked, ['1', '2', '3']);
});

t.test('ends with the reason of its signal, and leaves no watch', async (t) => {
  const { api, stop, running, decision } = await startApprover(t);
  api.set(`${REQUESTS}/right`, await request('right'));
  await decision('right');
  stop.abort(new Error('told to stop'));
  await t.rejects(running, /told to stop/);
});

t.test('an error of the host ends it', async (t) => {
  const { api, client } = await startFakeApi(t);
  api.set(`${REQUESTS}/right`, await request('right'));
  const running = approveServingRequests(client, {
    signal: AbortSignal.timeout(60_000),
    nodeName: NODE,
    host: () => Promise.reject(new Error('no interfaces')),
    report: () => {},
  });
  await t.rejects(running, /no interfaces/);
});

t.test('each outcome is one sentence', async (t) => {
  const decision = { request: 'r', requestor: '', signer: 's' } as const;
  t.equal(
    describeDecision({ ...decision, judgement: { verdict: 'approve' } }),
    'Approved request r of nobody to s',
  );
  t.equal(
    describeDecision({
      ...decision,
      requestor: 'u',
      judgement: { verdict: 'leave', rule: 'age', explanation: 'why' },
    }),
    'Left request r of u to s alone, by the rule "age": why',
  );
});
