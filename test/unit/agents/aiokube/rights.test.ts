import { X509Certificate } from 'node:crypto';
import { TLSSocket } from 'node:tls';
import t from 'tap';
import { aioContext } from '../../../../agents/aiokube/context.ts';
import { installedContext, signedRights } from '../../../../agents/steps/host-context.ts';
import { createAuthority } from '../../../../lab/certificates/signed-now.ts';
import { accessTo } from '../../../../lib/render/access.ts';
import { serveApi, servingAuthority } from '../../gather/cluster/serve-api.ts';
import { cluster } from '../host/cluster.ts';
import { fakeEtcd } from '../host/etcd.ts';
import { testHost } from '../host/host.ts';

const MINUTE_MS = 60_000;
const limits = () => ({ signal: AbortSignal.timeout(60_000), deadlineMs: 60_000 });

t.test('administers the API with a certificate of minutes, which is never written', async (t) => {
  const signer = await createAuthority('admin-ca');
  const certificates: X509Certificate[] = [];
  const { port } = await serveApi(t, ({ socket }, response) => {
    const raw = socket instanceof TLSSocket ? socket.getPeerCertificate().raw : undefined;
    if (raw !== undefined) certificates.push(new X509Certificate(raw));
    response.end('{"metadata":{"name":"a"}}');
  });
  const host = testHost(t, { endpoints: { api: `https://127.0.0.1:${port}` } });
  const { gather } = accessTo('kubernetes');
  host.write(gather.ca, servingAuthority);
  host.write(gather.signer.certificate, signer.certificate);
  host.write(gather.signer.key, signer.key, 0o600);
  host.write('/etc/sno-agents/cluster.json', JSON.stringify(cluster));
  const { withAdministrator } = await aioContext(host.paths);

  for (const [leftMs, validMs] of [
    [30 * MINUTE_MS, 31 * MINUTE_MS],
    [-1, MINUTE_MS],
  ] as const) {
    certificates.length = 0;
    const before = Date.now();
    const answer = await withAdministrator({ remainingMs: () => leftMs }, (client) =>
      client.raw('/readyz', limits()),
    );
    t.equal(answer.code, 200);
    const [certificate] = certificates;
    t.match(certificate?.subject, 'O=system:masters\nCN=sno-agents:administrator');
    t.ok(certificate?.verify(new X509Certificate(signer.certificate).publicKey));
    const validTo = new Date(certificate?.validTo ?? 0).getTime();
    // A certificate's dates are whole seconds.
    t.ok(validTo >= before + validMs - 1000, 'as long as the step may take');
    t.ok(validTo <= Date.now() + validMs, 'and a minute more');
  }
});

t.test("reads etcd's status with the API server's certificate", async (t) => {
  const etcd = await fakeEtcd(t);
  const host = testHost(t, { endpoints: { etcd: etcd.url } });
  etcd.giveAccess(host);
  const { etcd: own, gather } = accessTo('kubernetes');
  for (const name of ['ca', 'certificate', 'key'] as const) {
    host.write(gather.etcd[name], host.read(own[name]), 0o600);
    host.remove(own[name]);
  }
  const { withEtcd } = signedRights(host.context);
  t.match(await withEtcd((client) => client.status(limits())), { version: '3.6.8' });
});

t.test('an installed host signs one only where its keys are sealed', async (t) => {
  const missing = async (sealSecrets?: 'tpm2') => {
    const host = testHost(t);
    host.write('/etc/sno-agents/cluster.json', JSON.stringify({ ...cluster, sealSecrets }));
    const { withAdministrator } = await installedContext(host.paths);
    const used = withAdministrator({ remainingMs: () => MINUTE_MS }, async () => undefined);
    return used.then(
      () => 'nothing',
      (error: unknown) => `${error}`,
    );
  };
  t.match(await missing(), /etc\/sno-agents\/bootstrap-admin\.kubeconfig/);
  t.match(await missing('tpm2'), /etc\/kubernetes\/pki\//);
});
