import t, { type Test } from 'tap';
import { readAttempts } from '../../../../agents/upkeep/renew/attempts.ts';
import { workerServing } from '../../../../agents/upkeep/renew/worker-serving.ts';
import { createAuthority } from '../../../../lab/certificates/signed-now.ts';
import { readMembers, recordMember } from '../../../../lib/cluster/workers/members.ts';
import type { Settings } from '../../../../lib/host/settings.ts';
import { authorityPaths } from '../../../../lib/render/kubernetes/authorities.ts';
import { FakeApi } from '../../clients/kube/fake-api.ts';
import { credential, recentRequest, type Variation } from '../../cluster/csr/requests.ts';
import { serving, WORKER } from '../../cluster/csr/worker-requests.ts';
import { killedAtAnyMoment } from '../../engine/steps/killed-at-any-moment.ts';
import { serveApi, servingAuthority } from '../../gather/cluster/serve-api.ts';
import { testHost } from '../host/host.ts';
import { toldToStop } from './told-to-stop.ts';

const REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const MEMBER = `/var/lib/sno-agents/sno-approve/members/${WORKER}.json`;
const member = { name: WORKER, nodeUid: 'u1', addresses: ['192.0.2.20'] };
const admin = await createAuthority('admin-ca');
const HOUR_MS = 3_600_000;

/** A host that a worker has joined, and an API with its Node. */
async function joinedHost(
  t: Test,
  settings: Partial<Settings> = {},
  isSilent: (request: string) => boolean = () => false,
) {
  const api = new FakeApi();
  api.rule(({ path }) => (path === '/readyz' ? { code: 200, body: {} } : undefined));
  const { port, clients } = await serveApi(t, (message, response) => {
    if (!isSilent(`${message.method} ${message.url}`)) api.answer(message, response);
  });
  const host = testHost(t, { endpoints: { api: `https://127.0.0.1:${port}` }, settings });
  host.write(authorityPaths('admin').certificate, admin.certificate);
  host.write(authorityPaths('admin').key, admin.key, 0o600);
  host.write(authorityPaths('serving').certificate, servingAuthority);
  await recordMember(host.paths, member, new Date(Date.now() - 200 * 24 * HOUR_MS));
  const status = { addresses: [{ type: 'InternalIP', address: '192.0.2.20' }] };
  const register = (uid: string) =>
    api.set(`/api/v1/nodes/${WORKER}`, { metadata: { name: WORKER, uid }, status });
  register('u1');
  const context = { ...host.context, run: 'this' };
  const run = (signal?: AbortSignal) => workerServing.run(context, host.progress(signal));
  const holds = () => workerServing.holds(context, host.progress());
  const send = async (name: string, variation: Variation = serving()) =>
    api.set(`${REQUESTS}/${name}`, await recentRequest(name, variation));
  const approvals = () =>
    api.requests.filter(({ method }) => method === 'PUT').map(({ path }) => path);
  return { api, clients, context, host, register, run, holds, send, approvals };
}

t.test('worker-serving', async (t) => {
  t.test('approves the next certificate, which counts for another year', async (t) => {
    const { clients, host, run, holds, send, approvals } = await joinedHost(t);
    const [before] = await readMembers(host.paths);
    await send('next');
    t.equal(await holds(), false, 'it looks every day');
    t.match(await run(), { kind: 'done', note: `approved for ${WORKER}` });
    t.same(approvals(), [`${REQUESTS}/next/approval`]);
    t.same([...clients], ['O=sno-agents:worker-approver\nCN=sno-agents:worker-approver']);
    t.equal(await holds(), true);
    const [after] = await readMembers(host.paths);
    t.match(after, member);
    const days = Number(after?.expires.getTime()) - Number(before?.expires.getTime());
    t.equal(Math.round(days / 24 / HOUR_MS), 200);
    t.equal(host.mode(MEMBER), 0o600);
  });

  t.test('told to stop while the API server does not answer, it has not failed', async (t) => {
    for (const asked of [
      /^GET \/readyz/,
      /^GET .*certificatesigningrequests/,
      /^GET .*\/nodes/,
      /^PUT .*approval/,
    ]) {
      await toldToStop(t, String(asked), async (silent, signal) => {
        const isSilent = (request: string) => asked.test(request) && silent() !== undefined;
        const { host, run, send } = await joinedHost(t, {}, isSilent);
        await send('next');
        await run(signal).finally(async () => t.same(await readAttempts(host.paths), []));
      });
    }
  });

  t.test('an API server that does not get ready is given up in time', async (t) => {
    const isSilent = (request: string) => request.startsWith('GET /readyz');
    const { host, run } = await joinedHost(t, { renewApiMs: 600 }, isSilent);
    t.match(await run(), { note: 'failed' });
    const [attempt] = await readAttempts(host.paths);
    t.match(attempt?.failure, { what: /the API was not ready/ });
  });

  t.test('where no worker has joined, the API is not asked', async (t) => {
    const { api, host, run, holds } = await joinedHost(t);
    host.remove(MEMBER);
    t.equal(await holds(), true);
    t.match(await run(), { note: 'no worker has joined' });
    t.same(api.requests, []);
  });

  t.test('nor where somebody else approves', async (t) => {
    const { api, run, holds } = await joinedHost(t, { approveCertificates: false });
    t.equal(await holds(), true);
    t.match(await run(), { note: /approveCertificates is false/ });
    t.same(api.requests, []);
  });

  t.test('a request that is not the right one fails the run, with the rule', async (t) => {
    const { context, host, run, send, approvals } = await joinedHost(t);
    await send('moved', serving({ names: [{ type: 'dns', value: WORKER }] }));
    t.match(await run(), { note: 'failed' });
    t.same(approvals(), []);
    const [attempt] = await readAttempts(host.paths);
    t.match(attempt?.failure, {
      code: 'worker-request-pending',
      what: `requests of ${WORKER} are not approved`,
      found: /^moved: rule "names", /,
    });
    host.remove(MEMBER);
    const next = { ...context, run: 'the next' };
    t.equal(await workerServing.holds(next, host.progress()), false, 'it is tried again');
  });

  t.test('one for what has become this host its own is not approved', async (t) => {
    const { host, run, send, approvals } = await joinedHost(t);
    host.write('/etc/sno-agents/kubelet.env', 'KUBELET_NODE_IPS=192.0.2.20\n');
    await send('next');
    await run();
    t.same(approvals(), []);
    t.match(host.lines.join(''), `Nothing is approved for worker ${WORKER}: 192.0.2.20 is this`);
    t.equal(host.has(MEMBER), true, 'it may be right again');
  });

  t.test('one that nobody waits for does not, nor one beside the right one', async (t) => {
    const { host, run, send, approvals } = await joinedHost(t);
    const created = new Date(Date.now() - 2 * HOUR_MS).toISOString();
    await send('old', { ...serving(), created });
    t.match(await run(), { note: 'no worker requests one' });
    await send('wrong', serving({ spec: { extra: credential('no digest') } }));
    await send('right');
    t.match(await run(), { note: `approved for ${WORKER}` });
    t.same(approvals(), [`${REQUESTS}/right/approval`]);
    t.match(host.lines.join(''), /Did not approve request wrong .* rule=credential/);
  });

  t.test('a worker that was removed is forgotten, also if it registers again', async (t) => {
    const { host, register, run, send, approvals } = await joinedHost(t);
    register('u2');
    await send('again');
    t.match(await run(), { note: 'no worker requests one' });
    t.match(host.lines.join(''), `Worker ${WORKER} was removed`);
    t.equal(host.has(MEMBER), false);
    register('u1');
    t.match(await run(), { note: 'no worker has joined' });
    t.same(approvals(), []);
  });

  t.test('it is forgotten also where the request of another one is wrong', async (t) => {
    const { host, run, send } = await joinedHost(t);
    const removed = { name: 'worker-1.example.com', nodeUid: 'u9', addresses: ['192.0.2.21'] };
    await recordMember(host.paths, removed, new Date());
    await send('moved', serving({ names: [{ type: 'dns', value: WORKER }] }));
    t.match(await run(), { note: 'failed' });
    t.match(await readMembers(host.paths), [member]);
    t.equal((await readMembers(host.paths)).length, 1);
  });

  t.test('interrupted at any moment, a worker that was removed is forgotten', async (t) => {
    await killedAtAnyMoment(t, {
      async prepare() {
        const it = await joinedHost(t);
        it.register('u2');
        return it;
      },
      run: ({ run }) => run(),
      result: async ({ host }) => ({
        isMember: host.has(MEMBER),
        attempts: (await readAttempts(host.paths)).map(({ name, failure }) => ({ name, failure })),
      }),
      least: 5,
      isDurable: true,
    });
  });

  t.test(
    'interrupted at any moment, one that got its certificate counts for another year',
    async (t) => {
      await killedAtAnyMoment(t, {
        async prepare() {
          const it = await joinedHost(t);
          await it.send('next');
          return it;
        },
        run: ({ run }) => run(),
        result: async ({ host, approvals }) => ({
          days: (await readMembers(host.paths)).map(({ expires }) =>
            Math.round((expires.getTime() - Date.now()) / 24 / HOUR_MS),
          ),
          isApproved: approvals().length > 0,
        }),
        least: 5,
      });
    },
  );

  t.test('a damaged record, or one under another name, allows nothing', async (t) => {
    const { host } = await joinedHost(t);
    const text = host.read(MEMBER);
    host.write(MEMBER.replace(WORKER, 'worker-1.example.com'), text);
    t.match(await readMembers(host.paths), [{ name: WORKER }]);
    for (const damaged of ['', '{', '{"schemaVersion":2}', text.replace('u1', '')]) {
      host.write(MEMBER, damaged);
      t.same(await readMembers(host.paths), [], damaged);
    }
  });
});
