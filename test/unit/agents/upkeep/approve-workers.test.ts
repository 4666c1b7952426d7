import { once } from 'node:events';
import { TLSSocket } from 'node:tls';
import t, { type Test } from 'tap';
import { approveWorkers } from '../../../../agents/upkeep/approve/approve-workers.ts';
import { createAuthority } from '../../../../lab/certificates/signed-now.ts';
import { readMembers } from '../../../../lib/cluster/workers/members.ts';
import type { Settings } from '../../../../lib/host/settings.ts';
import { authorityPaths } from '../../../../lib/render/kubernetes/authorities.ts';
import { FakeApi } from '../../clients/kube/fake-api.ts';
import { recentRequest, type Variation } from '../../cluster/csr/requests.ts';
import { first, serving, WORKER } from '../../cluster/csr/worker-requests.ts';
import { serveApi, servingAuthority } from '../../gather/cluster/serve-api.ts';
import { testHost } from '../host/host.ts';

const REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const LIST = '/etc/sno-agents/workers.d';
const admin = await createAuthority('admin-ca');

const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();
const entry = (name = WORKER, expires = inHours(1), address = '192.0.2.20') =>
  `name: ${name}\naddresses: [${address}]\nexpires: ${expires}\n`;

/** A control-plane host with that list and an API. */
async function hostWith(
  t: Test,
  files: Readonly<Record<string, string>>,
  settings: Partial<Settings> = {},
) {
  const api = new FakeApi();
  const sockets = new Set<TLSSocket>();
  const leftOpen = new Set<TLSSocket>();
  let validTo = '';
  const { port, clients } = await serveApi(t, (message, response) => {
    if (message.socket instanceof TLSSocket && !sockets.has(message.socket)) {
      const { socket } = message;
      sockets.add(socket);
      socket.once('timeout', () => leftOpen.add(socket));
      validTo = message.socket.getPeerCertificate().valid_to;
    }
    return api.answer(message, response);
  });
  const host = testHost(t, { endpoints: { api: `https://127.0.0.1:${port}` }, settings });
  host.write(authorityPaths('admin').certificate, admin.certificate);
  host.write(authorityPaths('admin').key, admin.key, 0o600);
  host.write(authorityPaths('serving').certificate, servingAuthority);
  for (const [name, text] of Object.entries(files)) host.write(`${LIST}/${name}`, text, 0o600);
  const send = async (name: string, variation: Variation) =>
    api.set(`${REQUESTS}/${name}`, await recentRequest(name, variation));
  const approvals = () =>
    api.requests.filter(({ method }) => method === 'PUT').map(({ path }) => path);
  /** Until when the API server takes the certificate of the approver. */
  const validUntil = () => Date.parse(validTo);
  /** The connections that the approver has not closed itself. */
  const open = async () => {
    await Promise.all([...sockets].map((socket) => socket.destroyed || once(socket, 'close')));
    return leftOpen.size;
  };
  return { api, clients, host, send, approvals, validUntil, open };
}

t.test('approve-workers', async (t) => {
  t.test('without a list it has nothing to do', async (t) => {
    const { host } = await hostWith(t, {});
    t.equal(await host.holds(approveWorkers), true);
    t.match(await host.run(approveWorkers), { kind: 'done' });
  });

  t.test('approves both certificates of a worker, and then ends', async (t) => {
    const it = await hostWith(t, { 'w.yaml': entry() });
    const { api, clients, host, send, approvals, validUntil } = it;
    t.equal(await host.holds(approveWorkers), false, 'it is expected');
    const begun = Date.now();
    const running = host.run(approveWorkers);
    await host.said(/Waiting for requests of worker-0\.example\.com/);
    await send('foreign', first({ subject: [{ O: ['system:nodes'] }, { CN: ['system:node:x'] }] }));
    await host.said(/Did not approve request foreign .* rule=worker/);
    await send('client', first());
    await host.said(/Approved request client/);
    t.ok(validUntil() > begun + 3_600_000, 'its certificate outlives the hour in which it is used');
    const status = { addresses: [{ type: 'InternalIP', address: '192.0.2.20' }] };
    api.set(`/api/v1/nodes/${WORKER}`, { metadata: { name: WORKER }, status });
    await send('serving', serving());
    t.match(await running, { kind: 'done' });
    t.equal(await it.open(), 0);
    t.same([...clients], ['O=sno-agents:worker-approver\nCN=sno-agents:worker-approver']);
    t.strictSame(approvals(), [`${REQUESTS}/client/approval`, `${REQUESTS}/serving/approval`]);
    t.equal(await host.holds(approveWorkers), true, 'it has joined');
    t.equal(host.mode('/var/lib/sno-agents/sno-approve/joined.json'), 0o600);
    const members = await readMembers(host.paths);
    t.match(members, [{ name: WORKER, nodeUid: /./, addresses: ['192.0.2.20'] }]);
    t.match(
      host.read('/var/lib/sno-agents/metrics/sno-approve-requests.prom'),
      /rule="worker"} 1$/m,
    );
    host.write(`${LIST}/w.yaml`, entry(WORKER, inHours(2)), 0o600);
    t.equal(await host.holds(approveWorkers), false, 'a changed entry is a new one');
  });

  t.test('a worker that has joined is served while another one is awaited', async (t) => {
    const { api, host, send, approvals } = await hostWith(t, {
      'w.yaml': entry(),
      'x.yaml': entry('other', inHours(1), '192.0.2.21'),
    });
    const stop = new AbortController();
    const running = approveWorkers.run(host.context, host.progress(stop.signal)).catch(() => {});
    const status = { addresses: [{ type: 'InternalIP', address: '192.0.2.20' }] };
    api.set(`/api/v1/nodes/${WORKER}`, { metadata: { name: WORKER }, status });
    await send('serving', serving());
    await host.said(/Waiting for requests of other\b/);
    await send('again', serving());
    await host.said(/Approved request again/);
    stop.abort(new Error('stopped by the test'));
    await running;
    t.equal(approvals().length, 2);
  });

  t.test('a worker that has joined, which cannot be recorded, is an error', async (t) => {
    const { api, host, send } = await hostWith(t, { 'w.yaml': entry() });
    const running = host.run(approveWorkers);
    const ended = t.rejects(running, /joined\.json/);
    await host.said(/Waiting for requests of/);
    host.write('/var/lib/sno-agents/sno-approve/joined.json/in-its-place');
    const status = { addresses: [{ type: 'InternalIP', address: '192.0.2.20' }] };
    api.set(`/api/v1/nodes/${WORKER}`, { metadata: { name: WORKER }, status });
    await send('serving', serving());
    await ended;
  });

  t.test('an entry with an address or a name of this host allows nothing', async (t) => {
    const { host } = await hostWith(t, {
      'a.yaml': entry(WORKER, inHours(1), '192.0.2.10'),
      'b.yaml': entry('api.edge.example.test', inHours(1), '192.0.2.21'),
    });
    host.write('/etc/sno-agents/kubelet.env', 'KUBELET_NODE_IPS=192.0.2.10\n');
    await t.rejects(host.run(approveWorkers), {
      kind: 'usage',
      message:
        /a\.yaml: addresses\.0: it is an address of.*b\.yaml: name: it is a name of the control plane/,
    });
  });

  t.test('an entry that is added meanwhile counts', async (t) => {
    const { host, send } = await hostWith(t, {
      'x.yaml': entry('other', inHours(1), '192.0.2.21'),
    });
    const stop = new AbortController();
    const running = approveWorkers.run(host.context, host.progress(stop.signal)).catch(() => {});
    await send('foreign', first({ subject: [{ O: ['system:nodes'] }, { CN: ['system:node:x'] }] }));
    await send('client', first());
    await host.said(/Did not approve request client .* rule=worker/);
    host.write(`${LIST}/w.yaml`, entry(), 0o600);
    await host.said(/Approved request client/);
    const foreign = host.lines.filter((line) => line.includes('Did not approve request foreign'));
    t.equal(foreign.length, 1, 'what was said before the list changed is not said again');
    stop.abort(new Error('stopped by the test'));
    await running;
  });

  t.test('an entry that comes right after the list was read counts', async (t) => {
    const { host, send } = await hostWith(t, {
      'x.yaml': entry('other', inHours(1), '192.0.2.21'),
    });
    const stop = new AbortController();
    const progress = host.progress(stop.signal);
    const wait = progress.wait.bind(progress);
    t.capture(progress, 'wait', (what: string, work: () => Promise<unknown>) => {
      if (!what.includes(WORKER)) host.write(`${LIST}/w.yaml`, entry(), 0o600);
      return wait(what, work);
    });
    const running = approveWorkers.run(host.context, progress).catch(() => {});
    await send('client', first());
    await host.said(/Approved request client/);
    stop.abort(new Error('stopped by the test'));
    await running;
  });

  t.test('where requests are approved elsewhere, nobody is asked', async (t) => {
    const settings = { approveCertificates: false };
    const { api, host } = await hostWith(t, { 'w.yaml': entry() }, settings);
    t.equal(await host.holds(approveWorkers), true);
    t.match(await host.run(approveWorkers), { note: /approveCertificates is false/ });
    t.same(api.requests, []);
  });

  t.test('an expired entry is not waited for', async (t) => {
    const { host } = await hostWith(t, { 'w.yaml': entry(WORKER, inHours(-1)) });
    t.equal(await host.holds(approveWorkers), true);
    t.match(await host.run(approveWorkers), { kind: 'done' });
  });

  t.test('it ends at the expiry of the last entry', async (t) => {
    const soon = new Date(Date.now() + 1500).toISOString();
    const { host, approvals } = await hostWith(t, { 'w.yaml': entry(WORKER, soon) });
    t.match(await host.run(approveWorkers), { kind: 'done' });
    t.same(approvals(), []);
  });

  t.test('each entry ends at its own expiry, and the others go on', async (t) => {
    const soon = new Date(Date.now() + 1500).toISOString();
    const { host } = await hostWith(t, {
      'w.yaml': entry(WORKER, soon),
      'x.yaml': entry('other', inHours(1), '192.0.2.21'),
      'z.yaml': 'name: w\n',
    });
    const stop = new AbortController();
    const running = approveWorkers.run(host.context, host.progress(stop.signal)).catch(() => {});
    await host.said(/Waiting for requests of worker-0\.example\.com, other\b/);
    await host.said(/Waiting for requests of other\b/);
    stop.abort(new Error('stopped by the test'));
    await running;
    const faults = host.lines.filter((line) => /allows nothing: .*z\.yaml: addresses/.test(line));
    t.equal(faults.length, 1, 'a fault is reported once, however often the list is read');
  });

  t.test('a faulty file is reported, and fails the run when no worker is expected', async (t) => {
    const { host } = await hostWith(t, { 'w.yaml': 'name: w\n' });
    t.equal(await host.holds(approveWorkers), false);
    t.match(await host.failureOf(approveWorkers), {
      kind: 'usage',
      message: /workers\.d cannot be used; found .*w\.yaml: addresses: /,
    });
    t.match(host.lines.join(''), /This entry allows nothing: .*w\.yaml: expires/);
  });
});
