import { createPrivateKey, X509Certificate } from 'node:crypto';
import { KubeConfig } from '@kubernetes/client-node';
import t from 'tap';
import { createLaptopAuthorities } from '../../../lib/pki/authority.ts';
import { inspectCertificate, isIssuedBy } from '../../../lib/pki/certificate.ts';
import { adminKubeconfig, kubeconfig } from '../../../lib/pki/kubeconfig.ts';

t.test('the admin kubeconfig holds all that it needs, for as long as its authority', async (t) => {
  const authorities = await createLaptopAuthorities();
  const parsed = new KubeConfig();
  parsed.loadFromString(await adminKubeconfig('edge.example.test', 'edge', authorities));
  const cluster = parsed.getCurrentCluster();
  const user = parsed.getCurrentUser();
  t.equal(cluster?.server, 'https://api.edge.example.test:6443');
  t.equal(decode(cluster?.caData), authorities.servingCa.certificate);
  const certificate = decode(user?.certData);
  const key = createPrivateKey(decode(user?.keyData));
  t.ok(new X509Certificate(certificate).checkPrivateKey(key));
  t.ok(await isIssuedBy(certificate, authorities.adminCa.certificate));
  const { subject, notAfter } = inspectCertificate(certificate);
  t.same(subject, { commonName: 'system:admin', organizations: ['system:masters'] });
  t.ok(notAfter.getTime() - Date.now() > 9 * 365 * 24 * 3_600_000, 'nothing renews it');
});

t.test('a kubeconfig of files holds no key', async (t) => {
  const text = kubeconfig({
    server: 'https://127.0.0.1:6443',
    cluster: 'local',
    user: 'u',
    credentials: { kind: 'files', authority: '/ca', certificate: '/crt', key: '/key' },
  });
  t.notMatch(text, '-data');
  const parsed = new KubeConfig();
  parsed.loadFromString(text);
  t.match(parsed.getCurrentUser(), { certFile: '/crt', keyFile: '/key' });
  t.match(parsed.getCurrentCluster(), { caFile: '/ca' });
});

function decode(base64: string | undefined): string {
  return Buffer.from(base64 ?? '', 'base64').toString();
}
