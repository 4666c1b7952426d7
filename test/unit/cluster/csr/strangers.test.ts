/** What requests of others cost, whatever they are and however many: no memory, no journal, and no turn of anybody else. */
import t from 'tap';
import type { CertificateSigningRequest } from '../../../../lib/clients/kube/resources.ts';
import { describeDecision } from '../../../../lib/cluster/csr/decision.ts';
import { manyOf, REQUESTS, startDeciding } from './deciding.ts';
import { host, recentRequest } from './requests.ts';

t.test('an expected request does not wait for those of strangers', async (t) => {
  const it = await startDeciding(t);
  const right = await recentRequest('right');
  it.api.set(`${REQUESTS}/right`, right);
  const strangers = [...(await manyOf('one', 60)), ...(await manyOf('two', 60))];
  // It arrives while they are judged.
  setImmediate(() => it.pending.replace('right', right));
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
