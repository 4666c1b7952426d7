import { text } from 'node:stream/consumers';
import { TLSSocket } from 'node:tls';
import t, { type Test } from 'tap';
import { announce, complete } from '../../../../agents/steps/complete.ts';
import { createAuthority } from '../../../../lab/certificates/signed-now.ts';
import { Failure } from '../../../../lib/base/errors/failure.ts';
import { accessTo } from '../../../../lib/render/access.ts';
import { serveApi, servingAuthority } from '../../gather/cluster/serve-api.ts';
import { cluster } from '../host/cluster.ts';
import { testHost } from '../host/host.ts';

const CONFIG_MAPS = '/api/v1/namespaces/kube-system/configmaps';
const OURS = `${CONFIG_MAPS}/sno-installation`;
const signer = await createAuthority('admin-ca');
const never = new AbortController().signal;

/** An installed host, and an API with at most one ConfigMap; `asked` contains the user of each request. */
async function installed(t: Test, data?: Record<string, string>) {
  const asked: string[] = [];
  let kept = data;
  const { port, stop } = await serveApi(t, async (request, response) => {
    const { socket, method, url } = request;
    const { subject } = socket instanceof TLSSocket ? socket.getPeerCertificate() : {};
    asked.push(`${subject?.O}/${subject?.CN} ${method} ${url}`);
    const body = await text(request);
    if (method !== 'GET') kept = JSON.parse(body).data;
    const isFound = kept !== undefined;
    const metadata = { name: 'sno-installation', namespace: 'kube-system' };
    response.writeHead(isFound ? 200 : 404);
    response.end(JSON.stringify(isFound ? { metadata, data: kept } : { kind: 'Status' }));
  });
  const host = testHost(t, { endpoints: { api: `https://127.0.0.1:${port}` } });
  const { gather } = accessTo('kubernetes');
  host.write(gather.ca, servingAuthority);
  host.write(gather.signer.certificate, signer.certificate);
  host.write(gather.signer.key, signer.key, 0o600);
  return { host, asked, stop, kept: () => kept };
}

const USER = 'sno-agents:installation/sno-agents:installation';

t.test('complete', async (t) => {
  t.test('is recorded in the cluster, by a user without other rights', async (t) => {
    const { host, asked, kept } = await installed(t);
    t.same(await host.run(complete), { kind: 'done' });
    t.match(kept(), {
      state: 'complete',
      step: 'complete',
      clusterId: cluster.clusterId,
      version: /^\d+\.\d+\.\d+/,
      time: /^20\d\d-\d\d-\d\dT.*Z$/,
    });
    t.same(asked, [`${USER} GET ${OURS}`, `${USER} POST ${CONFIG_MAPS}`]);
    t.equal(await complete.input(host.context), cluster.clusterId);
    t.equal(await host.holds(complete), true, 'it is not stated a second time');
  });

  t.test('replaces the status of an earlier step', async (t) => {
    const { host, asked, kept } = await installed(t, { state: 'installing' });
    await host.run(complete);
    t.match(kept(), { state: 'complete' });
    t.same(asked.at(-1), `${USER} PUT ${OURS}`);
  });

  t.test('fails without an API, so that it is retried', async (t) => {
    const { host, stop } = await installed(t);
    stop();
    await t.rejects(host.run(complete), { name: 'KubeError' });
    t.equal(complete.retries, true);
  });
});

t.test('announce', async (t) => {
  t.test('records the running step', async (t) => {
    const { host, kept } = await installed(t);
    await announce(host.context, { step: 'clean' }, never);
    t.match(kept(), { state: 'installing', step: 'clean', clusterId: cluster.clusterId });
    t.notOk(kept()?.message);
  });

  t.test('records the failed step and the reason', async (t) => {
    const { host, kept } = await installed(t);
    const failure = new Failure('fatal', 'no ledger', { fix: 'Restore it.' });
    await announce(host.context, { step: 'clean', failure }, never);
    t.match(kept(), { state: 'failed', step: 'clean', message: /no ledger/ });
  });

  t.test('an API that does not answer does not fail the step', async (t) => {
    const { host, stop } = await installed(t);
    stop();
    await t.resolves(announce(host.context, { step: 'clean' }, never));
  });
});
