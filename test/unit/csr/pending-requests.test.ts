import t, { type Test } from 'tap';
import { type Decision, describeDecision } from '../../../lib/csr/decision.ts';
import { judge, type OwnView } from '../../../lib/csr/judge.ts';
import { PendingRequests } from '../../../lib/csr/pending-requests.ts';
import type { HostView } from '../../../lib/csr/views.ts';
import type { CertificateSigningRequest } from '../../../lib/kube/resources.ts';
import { refusal, startFakeApi } from '../kube/fake-api.ts';
import { host, node, recentRequest } from './requests.ts';

const REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';

/** Pending requests of this host, the API in which they are approved, and the outcome of each. */
async function startDeciding(t: Test, view: () => Promise<HostView> = async () => host) {
  const { api, client } = await startFakeApi(t);
  const decisions: Decision[] = [];
  const pending = new PendingRequests<OwnView>(client, {
    signal: AbortSignal.timeout(60_000),
    judge: (csr, view, now) => {
      judged.push(csr.name);
      return judge(csr, view, now);
    },
    isExpected: ({ username }) => username === `system:node:${host.nodeName}`,
    approval: ({ spec }) => ({ reason: 'Test', message: `by ${spec.username}` }),
    report: (decision) => decisions.push(decision),
  });
  const judged: string[] = [];
  let version = 0;
  const set = (request: CertificateSigningRequest) => {
    const { name } = request.metadata;
    api.set(`${REQUESTS}/${name}`, request);
    version += 1;
    pending.replace(name, {
      ...request,
      metadata: { ...request.metadata, resourceVersion: `${version}` },
    });
  };
  const decide = (ownNode: typeof node | 'none' = node) =>
    pending.decide(async () => ({
      host: await view(),
      node: ownNode === 'none' ? undefined : ownNode,
    }));
  const run = (requests: CertificateSigningRequest[], ownNode?: typeof node | 'none') => {
    for (const request of requests) set(request);
    return decide(ownNode);
  };
  const outcomes = () =>
    decisions.map(({ request, judgement }) =>
      'rule' in judgement ? [request, judgement.verdict, judgement.rule] : [request, 'approve'],
    );
  const approvals = () => api.requests.map(({ method, path }) => `${method} ${path}`);
  return { api, pending, run, decide, decisions, judged, outcomes, approvals };
}

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

/** Requests of that user, which are left. */
async function manyOf(username: string, count: number) {
  const foreign = await recentRequest('foreign', { spec: { username } });
  return Array.from({ length: count }, (_, at) => {
    const name = `${username}-${at}`;
    return { ...foreign, metadata: { ...foreign.metadata, name, uid: name } };
  });
}

t.test('an expected request does not wait for those of strangers', async (t) => {
  const it = await startDeciding(t);
  const right = await recentRequest('right');
  setImmediate(() => it.pending.replace('right', right));
  it.api.set(`${REQUESTS}/right`, right);
  const strangers = [...(await manyOf('one', 60)), ...(await manyOf('two', 60))];
  await it.run(strangers);
  while ((await it.decide()) === 'more');
  t.equal(it.judged.length, 121);
  t.ok(it.judged.indexOf('right') < 10, `${it.judged.indexOf('right')}`);
});

t.test('strangers do not fill the journal: neither one nor many of them', async (t) => {
  const it = await startDeciding(t);
  const of = (user: string) => it.decisions.filter(({ requestor }) => requestor === user);
  const sendAll = async (requests: CertificateSigningRequest[]) => {
    for (let result = await it.run(requests); result === 'more'; result = await it.decide());
  };
  await sendAll(await manyOf('other', 30));
  t.equal(of('other').length, 20);
  const last = of('other').at(-1);
  t.match(last === undefined ? [] : describeDecision(last), [
    /; further requests of this requestor are not reported$/,
    {},
  ]);
  for (let at = 0; at < 100; at += 1) await sendAll(await manyOf(`user-${at}`, 1));
  t.equal(it.decisions.length, 100);
  t.equal(it.decisions.at(-1)?.isLastOf, 'unknown hosts');
  t.equal(it.decisions.filter(({ isLastOf }) => isLastOf !== undefined).length, 2);
  await sendAll([await recentRequest('own', { names: [] })]);
  t.match(it.decisions.at(-1), { request: 'own' }, 'that of the own node is');
});

t.test('what was left is not kept, but for the last ones of an expected requestor', async (t) => {
  const it = await startDeciding(t);
  const own = (await manyOf(`system:node:${host.nodeName}`, 30)).map((each) => each);
  const unready = async (requests: CertificateSigningRequest[]) => {
    for (const each of requests) it.pending.replace(each.metadata.name, each);
    while ((await it.decide('none')) === 'more');
  };
  await unready([...own, ...(await manyOf('other', 30))]);
  const forever = [
    await recentRequest('old', { created: '2020-01-01T00:00:00Z' }),
    await recentRequest('weak', { key: 'RSA-1024' }),
    await recentRequest('garbage', { pem: () => 'nothing' }),
  ];
  await unready(forever);
  it.judged.length = 0;
  while ((await it.decide()) === 'more');
  const names = own.slice(-19).map(({ metadata }) => metadata.name);
  t.same(new Set(it.judged), new Set([...names, 'old']), 'the clock may be set, too');
});

t.test('an object that is too long is left, and not kept in memory', async (t) => {
  const it = await startDeciding(t);
  const right = await recentRequest('right');
  const annotations = { 'example.com/a': 'a'.repeat(40_000) };
  const long = (name: string, more: object) => ({
    ...right,
    metadata: { ...right.metadata, name, uid: name, ...more },
  });
  const request = Buffer.from(
    `${Buffer.from(right.spec.request, 'base64').toString()}${'\n'.repeat(17_000)}`,
  ).toString('base64');
  await it.run([
    long('annotated', { annotations }),
    { ...long('padded', {}), spec: { ...right.spec, request } },
    long('huge', { annotations: { a: 'a'.repeat(1 << 20) } }),
  ]);
  t.match(it.decisions, [
    { judgement: { rule: 'request', explanation: /object has 4\d{4} bytes, and at most 32768/ } },
    { judgement: { rule: 'request', explanation: /it has 17\d{3} bytes, and at most 16384 are/ } },
    { judgement: { rule: 'request', explanation: /object has 1\d{6} bytes/ } },
  ]);
  t.same(it.approvals(), []);
});

t.test('while too much waits to be judged, there is no room for more', async (t) => {
  const it = await startDeciding(t);
  const { signal } = new AbortController();
  await it.pending.room(signal);
  const [foreign] = await manyOf('other', 1);
  const annotations = { 'example.com/a': 'a'.repeat(25_000) };
  if (foreign === undefined) return;
  for (let at = 0; at < 700; at += 1) {
    const metadata = { ...foreign.metadata, name: `${at}`, uid: `${at}`, annotations };
    it.pending.replace(`${at}`, { ...foreign, metadata });
  }
  let hasRoom = false;
  const room = it.pending.room(signal).then(() => {
    hasRoom = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(hasRoom, false);
  while ((await it.decide()) === 'more');
  await room;
  t.equal(it.judged.length, 700);
});

t.test('a view is used for a short time only, whatever arrives meanwhile', async (t) => {
  let reads = 0;
  const it = await startDeciding(t, async () => {
    reads += 1;
    // What arrives in the round takes longer than a round may.
    t.context.now += 150;
    return host;
  });
  t.context.now = performance.now();
  t.capture(performance, 'now', () => (t.context.now += 30));
  const requests = await manyOf('other', 30);
  t.equal(await it.run(requests), 'more');
  t.ok(it.judged.length < 10, `${it.judged.length}`);
  let rounds = 1;
  for (; (await it.decide()) === 'more'; rounds += 1);
  t.equal(it.judged.length, 30);
  t.ok(rounds > 2 && reads >= rounds, `${rounds} rounds, ${reads} reads`);
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
