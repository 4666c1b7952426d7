import { X509Certificate } from 'node:crypto';
import { ServerCredentials } from '@grpc/grpc-js';
import t, { type Test } from 'tap';
import { createAuthority } from '../../../lab/certificates/signed-now.ts';
import { Failure } from '../../../lib/base/errors/failure.ts';
import type { EtcdClient } from '../../../lib/clients/etcd/client.ts';
import type { HostEndpoints } from '../../../lib/host/paths.ts';
import { inspectCertificate, isIssuedBy } from '../../../lib/pki/certificate.ts';
import { publicKeyFingerprint } from '../../../lib/pki/keys.ts';
import {
  accessTo,
  bootstrapAccess,
  withBootstrapAdmin,
  withEtcd,
} from '../../../lib/render/access.ts';
import { signedAccess } from '../../../lib/render/signed-access.ts';
import { testHost } from '../agents/host/host.ts';
import { listen, statusAt } from '../clients/etcd/serve-etcd.ts';
import { adminKubeconfig, serveApi } from '../gather/cluster/serve-api.ts';
import { authorities, byPath, textAt } from './rendered-host.ts';

const limits = () => ({ signal: AbortSignal.timeout(60_000), deadlineMs: 60_000 });
const pki = '/etc/kubernetes/pki';
const agents = '/etc/sno-agents';

t.test('OpenShift: its live host has the files of the bootstrap', async (t) => {
  const secrets = '/etc/kubernetes/bootstrap-secrets';
  t.same(bootstrapAccess('openshift'), {
    etcd: {
      clientUrl: 'https://localhost:2379',
      ca: `${secrets}/etcd-ca-bundle.crt`,
      certificate: `${secrets}/etcd-client.crt`,
      key: `${secrets}/etcd-client.key`,
    },
    kubeconfigs: {
      bootstrapAdmin: `${secrets}/kubeconfig`,
      csrApprover: `${secrets}/kubeconfig`,
    },
    kubeletClientAuthority: {
      certificate: `${secrets}/kubelet-signer.crt`,
      key: `${secrets}/kubelet-signer.key`,
    },
    kubeletServingAuthorities: [
      `${secrets}/kubelet-signer.crt`,
      '/etc/kubernetes/static-pod-resources/kube-controller-manager-certs/secrets/csr-signer/tls.crt',
    ],
  });
  t.equal(bootstrapAccess('kubernetes'), accessTo('kubernetes'));
});

t.test('addresses and files of the clients of the control plane', async (t) => {
  const { renderer: _, ...access } = accessTo('kubernetes');
  t.same(access, {
    etcd: {
      // A snapshot can only be restored with the values that the pod is started with.
      member: { name: 'etcd', peerUrl: 'https://127.0.0.1:2380', token: 'sno-etcd' },
      clientUrl: 'https://127.0.0.1:2379',
      ca: `${agents}/etcd-ca.crt`,
      certificate: `${agents}/etcd-client.crt`,
      key: `${agents}/etcd-client.key`,
    },
    kubeconfigs: {
      bootstrapAdmin: `${agents}/bootstrap-admin.kubeconfig`,
      csrApprover: `${agents}/csr-approver.kubeconfig`,
      deferred: `${agents}/deferred.kubeconfig`,
    },
    deferredIdentity: {
      kubeconfig: `${agents}/deferred.kubeconfig`,
      certificate: `${agents}/deferred.crt`,
      key: `${agents}/deferred.key`,
    },
    csrApprover: 'sno-agents:csr-approver',
    kubeletServingAuthorities: [`${pki}/ca/kubelet-serving/ca.crt`],
    gather: {
      server: 'https://127.0.0.1:6443',
      ca: `${pki}/ca/serving/ca.crt`,
      signer: authorityAt('admin'),
      etcd: {
        ca: `${pki}/ca/etcd/ca.crt`,
        certificate: `${pki}/kube-apiserver/etcd-client.crt`,
        key: `${pki}/kube-apiserver/etcd-client.key`,
      },
      etcdMetricsUrl: 'http://127.0.0.1:2381',
    },
    backup: {
      files: [
        ...['etcd', 'serving', 'front-proxy', 'kubelet-client', 'kubelet-serving', 'admin'],
        'legacy-unknown',
      ]
        .flatMap((name) => [authorityAt(name).certificate, authorityAt(name).key])
        .concat(
          `${pki}/service-account/service-account.key`,
          `${pki}/service-account/service-account.pub`,
          '/etc/kubernetes/kube-apiserver/encryption.yaml',
        ),
      encryption: '/etc/kubernetes/kube-apiserver/encryption.yaml',
    },
    kubeletClientAuthority: authorityAt('kubelet-client'),
  });
  const files =
    JSON.stringify(access).match(/\/etc\/[\w./-]+\.(crt|key|pub|yaml|kubeconfig)/g) ?? [];
  t.same(
    files.filter((path) => !byPath.has(path)),
    [],
    'every file is rendered',
  );
});

function authorityAt(name: string) {
  const folder = `${pki}/ca/${name}`;
  return { folder, certificate: `${folder}/ca.crt`, key: `${folder}/ca.key` };
}

t.test('another kind of control plane is rejected by name', async (t) => {
  t.throws(() => accessTo('openshift'), { kind: 'usage', message: /of kind openshift/ });
});

function hostWithEtcdClient(t: Test, endpoints: HostEndpoints = {}) {
  const host = testHost(t, { endpoints });
  for (const name of ['etcd-ca.crt', 'etcd-client.crt', 'etcd-client.key']) {
    host.write(`${agents}/${name}`, textAt(`${agents}/${name}`));
  }
  return host.paths;
}

t.test('the rendered client and server of etcd authenticate each other', async (t) => {
  const pair = {
    cert_chain: Buffer.from(textAt(`${pki}/etcd/server.crt`)),
    private_key: Buffer.from(textAt(`${pki}/etcd/server.key`)),
  };
  const as = ServerCredentials.createSsl(Buffer.from(textAt(`${pki}/etcd/ca.crt`)), [pair], true);
  const port = await listen(t, { Status: () => statusAt(12) }, {}, as);
  const paths = hostWithEtcdClient(t, { etcd: `https://127.0.0.1:${port}` });
  let kept: EtcdClient | undefined;
  const revision = await withEtcd('kubernetes', paths, (client) => {
    kept = client;
    return client.revision(limits());
  });
  t.equal(revision, 12);
  await t.rejects(async () => kept?.revision(limits()), 'it is closed at the end');
});

t.test('the default endpoint of etcd is that of its static pod', async (t) => {
  const paths = hostWithEtcdClient(t);
  const endpoint = await withEtcd('kubernetes', paths, async (client) => client.endpoint);
  t.equal(endpoint, 'https://127.0.0.1:2379');
});

t.test(
  'the administrator of the bootstrap uses its kubeconfig, and closes its connection',
  async (t) => {
    const closed = Promise.withResolvers<void>();
    const { port } = await serveApi(t, ({ socket }, response) => {
      socket.once('close', closed.resolve);
      response.end('ok');
    });
    const host = testHost(t);
    host.write(`${agents}/bootstrap-admin.kubeconfig`, adminKubeconfig(port));
    const answer = await withBootstrapAdmin('kubernetes', host.paths, (client) =>
      client.raw('/readyz', limits()),
    );
    t.match(answer, { code: 200, body: 'ok' });
    await closed.promise;
  },
);

const ownClients = {
  certificate: textAt(authorityAt('admin').certificate),
  key: textAt(authorityAt('admin').key),
};

/** A host with the rendered authorities, or with another client authority. */
function hostWithAuthorities(t: Test, endpoints: HostEndpoints = {}, clients = ownClients) {
  const host = testHost(t, { endpoints });
  host.write(`${pki}/ca/serving/ca.crt`, authorities.servingCa.certificate);
  host.write(`${pki}/ca/admin/ca.crt`, clients.certificate);
  host.write(`${pki}/ca/admin/ca.key`, clients.key);
  return host.paths;
}

t.test('a signed client is a single user for ten minutes', async (t) => {
  const before = Date.now();
  const paths = hostWithAuthorities(t);
  const {
    certificate = '',
    key = '',
    ...access
  } = await signedAccess('kubernetes', paths, 'sno-agents:gather');
  t.same(access, {
    server: new URL('https://127.0.0.1:6443'),
    ca: authorities.servingCa.certificate,
  });
  t.ok(await isIssuedBy(certificate, ownClients.certificate));
  t.equal(publicKeyFingerprint(key), publicKeyFingerprint(certificate));
  const { subject, clientAuth, serverAuth, notAfter } = inspectCertificate(certificate);
  t.same(subject, { commonName: 'sno-agents:gather', organizations: ['sno-agents:gather'] });
  t.same({ clientAuth, serverAuth }, { clientAuth: true, serverAuth: false });
  const minutes = (from: number) => (notAfter.getTime() - from) / 60_000;
  // Certificate times have no fractions of seconds.
  t.ok(minutes(before) > 9.9, `${minutes(before)} minutes`);
  t.ok(minutes(Date.now()) <= 10, `${minutes(Date.now())} minutes`);
});

t.test('another endpoint of the API is used if set', async (t) => {
  const paths = hostWithAuthorities(t, { api: 'https://127.0.0.1:7443' });
  const { server } = await signedAccess('kubernetes', paths, 'sno-agents:gather');
  t.equal(server.href, 'https://127.0.0.1:7443/');
});

for (const [when, clock] of [
  ['has expired', '2001-01-01T00:00:00Z'],
  ['is not valid yet', '2999-01-01T00:00:00Z'],
] as const) {
  t.test(`an authority that ${when} signs nothing, and the error names the clock`, async (t) => {
    const clients = await createAuthority('admin-ca', 10, new Date(clock));
    const paths = hostWithAuthorities(t, {}, clients);
    const failure = await signedAccess('kubernetes', paths, 'x').catch((error: unknown) => error);
    if (!(failure instanceof Failure)) throw new Error('it signed');
    const { validFromDate, validToDate } = new X509Certificate(clients.certificate);
    t.equal(failure.kind, 'fatal');
    t.equal(
      failure.details.expected,
      `a time from ${validFromDate.toISOString()} to ${validToDate.toISOString()}`,
    );
    t.match(failure.message, /authority that signs.*not valid now.*found 20.*clock/);
  });
}
