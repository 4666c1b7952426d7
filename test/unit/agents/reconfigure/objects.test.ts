/** The step that changes the cluster's objects, and certifies the administrator of a volume without keys. */

import { X509Certificate } from 'node:crypto';
import t, { type Test } from 'tap';
import { parse } from 'yaml';
import type { ReconfigureContext } from '../../../../agents/reconfigure/context.ts';
import { credentials } from '../../../../agents/reconfigure/credentials.ts';
import { siteObjects } from '../../../../agents/reconfigure/objects.ts';
import { daysMs } from '../../../../lib/pki/lifetimes.ts';
import { startFakeApi } from '../../clients/kube/fake-api.ts';
import { requestPem } from '../../cluster/csr/requests.ts';
import { waitsForEachEffect } from '../../engine/steps/killed-at-any-moment.ts';
import { authorityCredentials } from '../../relocation/site-volume/volumes.ts';
import { arrived, SITE, STATE } from './site-host.ts';

const KUBECONFIG = `${STATE}/admin.kubeconfig`;
const INGRESSES = '/apis/networking.k8s.io/v1';
const ofShop = `${INGRESSES}/namespaces/default/ingresses/shop`;

/** A host whose factory has an Ingress in its domain, with the authorities of its site. */
async function site(t: Test, different: Partial<ReconfigureContext> = {}) {
  const config = `${SITE}node_labels: {example.com/site: "0042"}\n`;
  const it = await arrived(t, { config });
  await it.run(credentials);
  const { api, client } = await startFakeApi(t);
  const { clusterName, baseDomain } = it.context.request.from;
  const host = `web.apps.${clusterName}.${baseDomain}`;
  api.set('/api/v1/nodes/edge-0', { metadata: { name: 'edge-0' } });
  api.set(ofShop, {
    metadata: { name: 'shop', namespace: 'default' },
    spec: { rules: [{ host }, { host: 'of.others.example' }], tls: [{ hosts: [host] }] },
  });
  // Of all namespaces.
  api.rule(({ method, path }) =>
    method === 'GET' && path === `${INGRESSES}/ingresses`
      ? { code: 200, body: { items: [api.get(ofShop)] } }
      : undefined,
  );
  const context = {
    ...it.context,
    ...different,
    withAdministrator: <T>(_: unknown, use: (administrator: typeof client) => Promise<T>) =>
      use(client),
  };
  return { ...it, api, step: () => siteObjects.run(context, it.host.progress()) };
}

t.test(
  'whoever made the request of a volume is certified by the authority of the site',
  async (t) => {
    const { host, step } = await site(t);
    const subject = { subject: [{ CN: ['jo'] }, { O: ['others'] }], names: [] };
    host.write(`${STATE}/site/credentials/admin.csr`, await requestPem(subject), 0o600);
    await waitsForEachEffect(t, step);
    t.equal(host.mode(KUBECONFIG), 0o600);
    const { users, clusters } = parse(host.read(KUBECONFIG));
    const [{ name, user }] = users;
    const certificate = new X509Certificate(Buffer.from(user['client-certificate-data'], 'base64'));
    t.equal(name, 'jo');
    t.same(certificate.subject.split('\n').toSorted(), ['CN=jo', 'O=system:masters']);
    const admin = new X509Certificate(host.read('/etc/kubernetes/pki/ca/admin/ca.crt'));
    t.ok(certificate.verify(admin.publicKey), 'of the site, not of the factory');
    const days = (certificate.validToDate.getTime() - Date.now()) / daysMs(1);
    t.ok(days > 364 && days <= 365, `${days} days`);
    t.equal(user['client-key'], 'admin.key', 'the key stays with the person');
    t.notMatch(host.read(KUBECONFIG), /client-key-data/);
    const trusted = Buffer.from(clusters[0].cluster['certificate-authority-data'], 'base64');
    t.equal(`${trusted}`, host.read('/etc/kubernetes/pki/ca/serving/ca.crt'));
    t.match(host.lines.join(''), /all rights in the cluster for jo, valid until/);
  },
);

t.test('a volume with keys certifies nobody, whatever else is in its folder', async (t) => {
  const { host, step } = await site(t, { credentials: await authorityCredentials() });
  const request = await requestPem({ subject: [{ CN: ['mallory'] }], names: [] });
  host.write(`${STATE}/site/credentials/admin.csr`, request, 0o600);
  await step();
  t.notOk(host.has(KUBECONFIG));
  t.notMatch(host.lines.join(''), /Issued/);
});

t.test(
  'the Node has its labels, an Ingress the names of the site, and those of others stay',
  async (t) => {
    const { host, api, step } = await site(t);
    await step();
    t.match(api.get('/api/v1/nodes/edge-0')?.metadata, { labels: { 'example.com/site': '0042' } });
    const at = 'web.apps.shop.example.com';
    const moved = { rules: [{ host: at }, { host: 'of.others.example' }], tls: [{ hosts: [at] }] };
    t.match(api.get(ofShop), { spec: moved });
    t.match(host.lines.join(''), /Ingress default\/shop: its hosts are in shop\.example\.com now/);
    const before = api.requests.length;
    await step();
    const changes = api.requests.slice(before).filter(({ method }) => method !== 'GET');
    t.match(changes, [{ path: '/api/v1/nodes/edge-0' }], 'an Ingress is moved once');
    t.equal(changes.length, 1);
  },
);
