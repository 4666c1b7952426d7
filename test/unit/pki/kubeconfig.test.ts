import { createPrivateKey, X509Certificate } from 'node:crypto';
import { KubeConfig } from '@kubernetes/client-node';
import t from 'tap';
import { parse } from 'yaml';
import { createLaptopAuthorities } from '../../../lab/certificates/signed-now.ts';
import { inspectCertificate, isIssuedBy } from '../../../lib/pki/certificate.ts';
import {
  adminKubeconfig,
  createLaptopCredentials,
  kubeconfig,
} from '../../../lib/pki/kubeconfig.ts';

t.test('the admin kubeconfig is self-contained', async (t) => {
  const authorities = await createLaptopAuthorities();
  const parsed = new KubeConfig();
  const text = await adminKubeconfig('edge.example.test', 'edge', authorities, new Date());
  parsed.loadFromString(text);
  const cluster = parsed.getCurrentCluster();
  const user = parsed.getCurrentUser();
  t.equal(cluster?.server, 'https://api.edge.example.test:6443');
  t.equal(decode(cluster?.caData), authorities.servingCa.certificate);
  const certificate = decode(user?.certData);
  const key = createPrivateKey(decode(user?.keyData));
  t.ok(new X509Certificate(certificate).checkPrivateKey(key));
  t.ok(await isIssuedBy(certificate, authorities.adminCa.certificate));
  const { subject, clientAuth, serverAuth } = inspectCertificate(certificate);
  t.same(subject, { commonName: 'system:admin', organizations: ['system:masters'] });
  t.same({ clientAuth, serverAuth }, { clientAuth: true, serverAuth: false });
  t.same(
    { cluster: cluster?.name, user: user?.name, context: parsed.getCurrentContext() },
    { cluster: 'edge', user: 'admin', context: 'admin' },
  );
  t.match(text, /^ +client-key-data: [\w+/=]+$/m, 'on one line, as kubectl writes it');
});

t.test('it is valid as long as its authority, since nothing renews it', async (t) => {
  const now = new Date('2026-03-01T12:00:00Z');
  const authorities = await createLaptopAuthorities(now);
  const parsed = new KubeConfig();
  parsed.loadFromString(await adminKubeconfig('edge.example.test', 'edge', authorities, now));
  const { notBefore, notAfter } = inspectCertificate(decode(parsed.getCurrentUser()?.certData));
  t.same(notBefore, new Date('2026-02-28T12:00:00Z'));
  t.same(notAfter, inspectCertificate(authorities.adminCa.certificate).notAfter);
});

t.test(
  'what is made for an installation: no key of whoever signed its administrator',
  async (t) => {
    const other = 'who has signed the certificate that the site gives the API\n';
    const options = { alsoTrusted: other };
    const made = await createLaptopCredentials('edge.example.test', 'edge', options);
    const { servingCa, adminCa } = made.authorities;
    t.same(Object.keys(adminCa), ['certificate']);
    const parsed = new KubeConfig();
    parsed.loadFromString(made.kubeconfig);
    t.equal(decode(parsed.getCurrentCluster()?.caData), servingCa.certificate + other);
    t.ok(await isIssuedBy(decode(parsed.getCurrentUser()?.certData), adminCa.certificate));
  },
);

t.test('a kubeconfig of files contains no key', async (t) => {
  const text = kubeconfig({
    server: 'https://127.0.0.1:6443',
    cluster: 'local',
    user: 'u',
    credentials: { kind: 'files', authority: '/ca', certificate: '/crt', key: '/key' },
  });
  t.same(parse(text), {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'local',
        cluster: { server: 'https://127.0.0.1:6443', 'certificate-authority': '/ca' },
      },
    ],
    users: [{ name: 'u', user: { 'client-certificate': '/crt', 'client-key': '/key' } }],
    contexts: [{ name: 'u', context: { cluster: 'local', user: 'u' } }],
    'current-context': 'u',
  });
});

function decode(base64: string | undefined): string {
  return Buffer.from(base64 ?? '', 'base64').toString();
}
