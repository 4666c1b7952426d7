import t from 'tap';
import type { CertificateSigningRequest } from '../../../../lib/clients/kube/resources.ts';
import { describeDecision } from '../../../../lib/cluster/csr/decision.ts';
import { refusal } from '../../clients/kube/fake-api.ts';
import { REQUESTS, startDeciding } from './deciding.ts';
import { host, recentRequest } from './requests.ts';

t.test("the node's own request is approved as the approval subresource requires", async (t) => {
  const { api, run, decisions } = await startDeciding(t);
  const right = await recentRequest('right');
  const before = Date.now();
  t.equal(await run([right]), 'done');
  t.strictSame(decisions, [
    {
      request: 'right',
      requestor: 'system:node:sno.example.com',
      signer: 'kubernetes.io/kubelet-serving',
      judgement: { verdict: 'approve' },
    },
  ]);
  const [approval] = api.requests;
  t.match(approval, { method: 'PUT', path: `${REQUESTS}/right/approval` });
  const { lastUpdateTime, ...condition } = conditionOf(approval?.body);
  t.strictSame(approval?.body, {
    ...right,
    metadata: { ...right.metadata, resourceVersion: '1' },
    status: { conditions: [{ ...condition, lastUpdateTime }] },
  });
  t.match(condition, {
    type: 'Approved',
    status: 'True',
    reason: 'Test',
    message: 'by system:node:sno.example.com',
  });
  const time = Date.parse(`${lastUpdateTime}`);
  t.ok(before <= time && time <= Date.now(), `${lastUpdateTime}`);
});

t.test('every pending request is decided, and only valid ones are approved', async (t) => {
  const { run, outcomes, approvals } = await startDeciding(t);
  const denied = { conditions: [{ type: 'Denied', status: 'True' }] };
  const requests = [
    await recentRequest('foreign', { spec: { username: 'system:admin' } }),
    await recentRequest('denied', { status: denied }),
    await recentRequest('issued', { status: { certificate: 'YQ==' } }),
    await recentRequest('undecided', { status: {} }),
    await recentRequest('right'),
  ];
  t.equal(await run(requests), 'done');
  t.strictSame(outcomes(), [
    ['foreign', 'leave', 'requestor'],
    ['undecided', 'approve'],
    ['right', 'approve'],
  ]);
  t.strictSame(approvals(), [
    `PUT ${REQUESTS}/undecided/approval`,
    `PUT ${REQUESTS}/right/approval`,
  ]);
});

t.test(
  'what was left is judged again when host or node have changed, and not before',
  async (t) => {
    let nodeIps: string[] = [];
    const it = await startDeciding(t, async () => ({ ...host, nodeIps }));
    const foreign = await recentRequest('foreign', { spec: { username: 'system:admin' } });
    t.equal(await it.run([await recentRequest('early'), foreign]), 'left', 'the host may change');
    t.equal(await it.decide(), 'left');
    t.strictSame(it.judged, ['early', 'foreign'], 'nothing has changed');
    nodeIps = ['192.0.2.10'];
    t.equal(await it.decide('none'), 'left');
    t.equal(await it.decide(), 'done');
    t.strictSame(it.outcomes(), [
      ['early', 'leave', 'node-addresses'],
      ['foreign', 'leave', 'requestor'],
      ['early', 'leave', 'node-addresses'],
      ['early', 'approve'],
    ]);
  },
);

t.test('objects that are listed again are not judged again', async (t) => {
  const it = await startDeciding(t);
  const left = await recentRequest('left', { names: [] });
  const at = (resourceVersion: string, uid = 'u') => ({
    ...left,
    metadata: { ...left.metadata, uid, resourceVersion },
  });
  const list = (...requests: CertificateSigningRequest[]) => {
    it.pending.beginList();
    for (const each of requests) it.pending.replace(each.metadata.name, each);
    it.pending.endList();
    return it.decide();
  };
  await list(at('1'));
  await list(at('1'));
  t.equal(it.judged.length, 1);
  await list(at('2'));
  t.equal(it.judged.length, 2, 'changed');
  await list(at('2', 'another'));
  t.equal(it.judged.length, 3, 'created again');
  t.equal(it.decisions.length, 2, 'and reported again');
  await list();
  t.equal(await it.decide(), 'done', 'nothing is left');
  await list(at('2', 'another'));
  t.equal(it.decisions.length, 3, 'what was reported is forgotten with its request');
  it.pending.replace('left', undefined);
  t.equal(await it.decide(), 'done');
});

t.test('a decision is reported once, and again when it changes', async (t) => {
  const { run, outcomes } = await startDeciding(t);
  const named = (uid: string | undefined, request: CertificateSigningRequest) => {
    const { uid: _, ...metadata } = request.metadata;
    return { ...request, metadata: uid === undefined ? metadata : { ...metadata, uid } };
  };
  const object = await recentRequest('a', { spec: { username: 'other' } });
  const reports: [title: string, request: CertificateSigningRequest, total: number][] = [
    ['first', named('1', object), 1],
    ['the same again', named('1', object), 1],
    ['created again under its name', named('2', object), 2],
    ['without a uid', named(undefined, object), 3],
    ['the same without a uid', named(undefined, object), 3],
  ];
  for (const [title, request, total] of reports) {
    await run([request]);
    t.equal(outcomes().length, total, title);
  }
  const other = { ...object, spec: { ...object.spec, signerName: 'a/b' } };
  await run([named('2', other)]);
  t.strictSame(outcomes().at(-1), ['a', 'leave', 'signer']);
});

t.test('a request without a user is reported as such', async (t) => {
  const { run, decisions } = await startDeciding(t);
  const object = await recentRequest('anonymous');
  const { username: _, ...spec } = object.spec;
  await run([{ ...object, spec }]);
  t.match(decisions, [
    { requestor: '', judgement: { rule: 'requestor', explanation: /found nobody$/ } },
  ]);
});

t.test('an approval that the API refuses is reported, and the review is incomplete', async (t) => {
  const { api, run, decide, decisions, outcomes } = await startDeciding(t);
  let refusals = 0;
  api.rule(({ path }) =>
    path.includes('/right/') && ++refusals <= 2 ? refusal(503, { message: 'starting' }) : undefined,
  );
  const requests = [await recentRequest('right'), await recentRequest('next')];
  t.equal(await run(requests), 'failed');
  t.equal(await decide(), 'failed');
  t.equal(await decide(), 'done');
  t.strictSame(outcomes(), [
    ['right', 'failed', 'api'],
    ['next', 'approve'],
    ['right', 'approve'],
  ]);
  const [failed] = decisions;
  t.match(failed, { judgement: { explanation: /503 starting/ } });
  t.match(failed === undefined ? [] : describeDecision(failed), [
    /^Could not approve request right of system:node:/,
    { request: 'right', rule: 'api', why: /503 starting/ },
  ]);
});

t.test('a request that changed or vanished meanwhile is not a failure', async (t) => {
  for (const code of [409, 404]) {
    const { api, run, outcomes } = await startDeciding(t);
    api.rule(({ path }) => (path.includes('/gone/') ? refusal(code, {}) : undefined));
    t.equal(await run([await recentRequest('gone'), await recentRequest('right')]), 'done');
    t.strictSame(outcomes(), [['right', 'approve']], `${code}`);
  }
});

t.test('the host is read once for all requests, and not for none', async (t) => {
  let reads = 0;
  const { run, outcomes } = await startDeciding(t, async () => {
    reads += 1;
    return host;
  });
  const right = await recentRequest('right');
  const conditions = [{ type: 'Denied', status: 'True' }];
  await run([{ ...right, status: { conditions } }]);
  t.equal(reads, 0);
  const foreign = { spec: { username: 'other' } };
  await run([right, await recentRequest('a', foreign), await recentRequest('b', foreign)]);
  t.equal(reads, 1);
  t.equal(outcomes().length, 3);
});

t.test('an error of the host ends the review', async (t) => {
  const { run, outcomes } = await startDeciding(t, () =>
    Promise.reject(new Error('no interfaces')),
  );
  await t.rejects(run([await recentRequest('right')]), /no interfaces/);
  t.strictSame(outcomes(), []);
});

t.test('each outcome is one sentence', async (t) => {
  const decision = { request: 'r', requestor: '', signer: 's' } as const;
  t.same(describeDecision({ ...decision, judgement: { verdict: 'approve' } }), [
    'Approved request r of an unknown user to s',
    {},
  ]);
  t.same(
    describeDecision({
      ...decision,
      requestor: 'u',
      judgement: { verdict: 'leave', rule: 'age', explanation: 'why' },
    }),
    ['Did not approve request r of u to s', { request: 'r', rule: 'age', why: 'why' }],
  );
});

/** The only condition in the submitted request. */
function conditionOf(body: unknown): Record<string, unknown> {
  const status = fieldOf(body, 'status');
  const conditions = fieldOf(status, 'conditions');
  const [condition, ...others] = Array.isArray(conditions) ? conditions : [];
  if (others.length > 0) throw new Error('more than one condition');
  return { ...condition };
}

function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.entries(value).find(([key]) => key === name)?.[1];
}
