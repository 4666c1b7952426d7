/**
 * The objects of a site on OpenShift's own API server with its own definitions: what it refuses or prunes shows here. No
 * operator runs. Needs components that `npm run lab -- --scenario openshift-components` builds.
 *
 * What runs everywhere: the same on an API that refuses and prunes likewise, test/unit/relocation/site-openshift, and the step in
 * test/unit/agents/reconfigure/openshift-objects.test.ts.
 */
import t from 'tap';
import { z } from 'zod';
import { siteCertificatesOnOpenShift } from '../../../agents/reconfigure/openshift/certificates.ts';
import { siteObjectsOnOpenShift } from '../../../agents/reconfigure/openshift/objects.ts';
import { createAuthority, issueLeaf } from '../../../lab/certificates/signed-now.ts';
import type { KubeObject, ObjectPlace, Resource } from '../../../lib/clients/kube/resources.ts';
import { resources } from '../../../lib/clients/kube/resources.ts';
import type { Call } from '../../../lib/clients/kube/transport.ts';
import { parseSiteConfig } from '../../../lib/config/site-config/read.ts';
import { openShiftResources } from '../../../lib/relocation/site-openshift/resources.ts';
import { carryOut } from '../../../lib/relocation/site-openshift/site-write.ts';
import { siteWrites } from '../../../lib/relocation/site-openshift/site-writes.ts';
import { stepOn } from '../../unit/agents/reconfigure/openshift-step.ts';
import { appliedLater, LATER } from './later-kind.ts';
import { notBuilt, startSiteCluster } from './site-cluster.ts';
import { StoppedClient } from './stopped-client.ts';

const LIFETIME_MS = 300_000;
const skip = await notBuilt();
const PASSWORD = `$2y$10$${'a'.repeat(53)}`;
const FACTORY = 'sno.factory.test';

const siteText = (domain: string, trust: string) => `api_version: 1
cluster_name: sno
base_domain: ${domain}
allowRestart: true
pull_secret: '{"auths":{"${domain}":{"auth":"YTpi"}}}'
kubeadmin_password_hash: ${PASSWORD}
ssh_key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ8tqllX80dTk9PMvYWfb5xk42X8w4+4ncCpkEX3nK3w site
additionalNTPSources: [ntp.${domain}]
additionalTrustBundle:
  userCaBundle: ${JSON.stringify(trust)}
proxy:
  httpsProxy: http://proxy.${domain}:3128
  noProxy: .${domain}
imageDigestSources:
  - source: quay.test/ocp
    mirrors: [registry.${domain}/ocp]
    sourcePolicy: NeverContactSource
imageTagSources:
  - source: quay.test/tools
    mirrors: [registry.${domain}/tools]
  - source: quay.test/ocp
    mirrors: [registry.${domain}/ocp-tags]
`;

async function identityOf(domain: string) {
  const authority = await createAuthority('site');
  const leaf = (name: string) =>
    issueLeaf(authority, { subject: { commonName: name }, usage: 'server', dnsNames: [name] });
  return {
    trust: authority.certificate,
    api: await leaf(`api.sno.${domain}`),
    ingress: await leaf(`*.apps.sno.${domain}`),
    administrators: (await createAuthority('administrators')).certificate,
  };
}

const EXTRA = `apiVersion: v1
kind: ConfigMap
metadata: {namespace: shop, name: extra}
---
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: shop, name: till}
spec:
  selector: {matchLabels: {app: till}}
  template:
    metadata: {labels: {app: till}}
    spec: {containers: [{name: till, image: registry.test/till}]}
---
${LATER}`;

t.test('objects of a site', { skip, timeout: LIFETIME_MS }, async (t) => {
  const cluster = await startSiteCluster(t, LIFETIME_MS);
  const { admin, controlPlane, limits } = cluster;
  const read = async <T extends KubeObject>(
    resource: Resource<T>,
    place: ObjectPlace & { name: string },
  ) => admin.get(resource, place, limits);
  const identity = await identityOf('site.test');
  const site = parseSiteConfig(siteText('site.test', identity.trust), 'site-config.yaml', {
    files: new Map(),
    now: new Date(),
  });
  const writes = siteWrites(site, identity, [FACTORY]);

  await t.test('stopped after each request, it goes on behind it', async (t) => {
    const access = await controlPlane.access({ name: 'admin', groups: ['system:masters'] });
    const made: Call[] = [];
    for (let isDone = false; !isDone; ) {
      using client = new StoppedClient(access, made);
      isDone = await carryOut(client, writes, limits).then(
        () => true,
        (error: unknown) => {
          if (error === client.stopped) return false;
          throw error;
        },
      );
    }
    const calls = made.map(({ method, path }) => `${method} ${path}`);
    const kinds = calls.map((call) => call.replace(/^(\S+) .*\/(\w+)\/(\S+)$/, '$1 $2/$3'));
    t.same(
      kinds,
      [
        'POST namespaces/openshift-config/secrets',
        'POST namespaces/openshift-config/secrets',
        'POST namespaces/openshift-ingress/secrets',
        'POST namespaces/openshift-config/configmaps',
        'PUT secrets/kubeadmin',
        'PUT secrets/pull-secret',
        'POST v1/imagedigestmirrorsets',
        'POST v1/imagetagmirrorsets',
        'DELETE imagedigestmirrorsets/image-digest-mirror',
        'DELETE imagecontentsourcepolicies/image-policy',
        'PUT machineconfigs/99-master-ssh',
        'POST v1/machineconfigs',
        'PUT proxies/cluster',
        'PUT ingresscontrollers/default',
        'PUT ingresses/cluster',
        'PUT apiservers/cluster',
        'PUT configmaps/admin-kubeconfig-client-ca',
      ],
      'each object is written once, in order',
    );
  });

  await t.test('each object, read back', async (t) => {
    const inConfig = (name: string) => ({ namespace: 'openshift-config', name });
    const cluster = { name: 'cluster' };
    const data = async (place: ObjectPlace & { name: string }) =>
      Object.fromEntries(
        Object.entries(
          z.record(z.string(), z.string()).parse((await read(resources.secrets, place)).data),
        ).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]),
      );
    const tls = (pair: { certificate: string; key: string }) => ({
      'tls.crt': pair.certificate,
      'tls.key': pair.key,
    });
    t.same(await data(inConfig('sno-site-api')), tls(identity.api));
    t.same(await data(inConfig('sno-site-ingress')), tls(identity.ingress));
    t.same(
      await data({ namespace: 'openshift-ingress', name: 'sno-site-ingress' }),
      tls(identity.ingress),
    );
    t.equal((await read(resources.secrets, inConfig('sno-site-api'))).type, 'kubernetes.io/tls');
    t.same(await data(inConfig('pull-secret')), {
      '.dockerconfigjson': '{"auths":{"site.test":{"auth":"YTpi"}}}',
    });
    t.same(await data({ namespace: 'kube-system', name: 'kubeadmin' }), { kubeadmin: PASSWORD });
    const bundle = async (name: string) =>
      (await read(resources.configMaps, inConfig(name))).data?.['ca-bundle.crt'];
    t.equal(await bundle('user-ca-bundle'), identity.trust);
    t.equal(await bundle('admin-kubeconfig-client-ca'), identity.administrators);

    const secret = { name: 'sno-site-ingress' };
    const apps = 'apps.sno.site.test';
    t.match(await read(openShiftResources.ingresses, cluster), {
      spec: {
        domain: `apps.${FACTORY}`,
        appsDomain: apps,
        componentRoutes: [
          {
            namespace: 'openshift-console',
            name: 'console',
            hostname: `console-openshift-console.${apps}`,
            servingCertKeyPairSecret: secret,
          },
          { name: 'downloads', hostname: `downloads-openshift-console.${apps}` },
          {
            namespace: 'openshift-authentication',
            name: 'oauth-openshift',
            hostname: `oauth-openshift.${apps}`,
            servingCertKeyPairSecret: secret,
          },
        ],
      },
    });
    t.match((await read(openShiftResources.apiServers, cluster)).spec, {
      audit: { profile: 'Default' },
      servingCerts: {
        namedCertificates: [
          { names: ['api.sno.site.test'], servingCertificate: { name: 'sno-site-api' } },
        ],
      },
    });
    t.same((await read(openShiftResources.proxies, cluster)).spec, {
      httpsProxy: 'http://proxy.site.test:3128',
      noProxy: '.site.test,.sno.site.test',
      trustedCA: { name: 'user-ca-bundle' },
    });
    const controller = { namespace: 'openshift-ingress-operator', name: 'default' };
    t.match((await read(openShiftResources.ingressControllers, controller)).spec, {
      replicas: 1,
      defaultCertificate: secret,
    });
    t.same((await read(openShiftResources.digestMirrors, { name: 'sno-site' })).spec, {
      imageDigestMirrors: [
        {
          source: 'quay.test/ocp',
          mirrors: ['registry.site.test/ocp'],
          mirrorSourcePolicy: 'NeverContactSource',
        },
      ],
    });
    t.match((await read(openShiftResources.tagMirrors, { name: 'sno-site' })).spec, {
      imageTagMirrors: [
        { source: 'quay.test/tools', mirrors: ['registry.site.test/tools'] },
        { source: 'quay.test/ocp', mirrors: ['registry.site.test/ocp-tags'] },
      ],
    });
    for (const kind of ['digestMirrors', 'contentPolicies'] as const) {
      const { items } = await admin.list(openShiftResources[kind], {}, limits);
      const names = items.map(({ metadata }) => metadata.name);
      t.same(names, kind === 'digestMirrors' ? ['sno-site'] : [], `the factory's ${kind} are gone`);
    }
    const ssh = await read(openShiftResources.machineConfigs, { name: '99-master-ssh' });
    t.match(ssh.spec.config?.passwd?.users, [
      { name: 'core', sshAuthorizedKeys: [/^ssh-ed25519 \S+ site$/] },
    ]);
    const time = await read(openShiftResources.machineConfigs, { name: '99-master-sno-site-time' });
    t.match(time.metadata.labels, { 'machineconfiguration.openshift.io/role': 'master' });
    t.match(JSON.stringify(time.spec), '/etc/chrony.conf');
  });

  await t.test('again: nothing is written', async (t) => {
    const versions = async () => {
      const kinds = [...Object.values(openShiftResources), resources.configMaps];
      const lists = await Promise.all(
        kinds.map((kind) => admin.list<KubeObject>(kind, {}, limits)),
      );
      return lists.flatMap(({ items }) => items.map(({ metadata }) => metadata.resourceVersion));
    };
    const before = await versions();
    t.same(await carryOut(admin, writes, limits), []);
    t.same(await versions(), before);
  });

  await t.test('an interrupted attempt is continued', async (t) => {
    const next = await identityOf('site.test');
    const all = siteWrites(site, { ...next, ingress: identity.ingress }, [FACTORY]);
    await carryOut(admin, all.slice(0, 1), limits);
    t.same(await carryOut(admin, all, limits), [
      'ConfigMap openshift-config/admin-kubeconfig-client-ca',
    ]);
  });

  await t.test('another site replaces it, the domain of the installation ends it', async (t) => {
    const other = await identityOf('other.test');
    const moved = parseSiteConfig(
      'api_version: 1\ncluster_name: sno\nbase_domain: other.test\nimageDigestSources: []\n',
      'site-config.yaml',
      { files: new Map(), now: new Date() },
    );
    await carryOut(admin, siteWrites(moved, other, [FACTORY, 'sno.site.test']), limits);
    const api = await read(openShiftResources.apiServers, { name: 'cluster' });
    t.equal(api.spec?.servingCerts?.namedCertificates?.length, 1);
    t.match(JSON.stringify(api.spec), 'api.sno.other.test');
    t.same((await admin.list(openShiftResources.digestMirrors, {}, limits)).items, []);
    t.same((await admin.list(openShiftResources.tagMirrors, {}, limits)).items, []);
    const home = parseSiteConfig(
      'api_version: 1\ncluster_name: sno\nbase_domain: factory.test\n',
      'site-config.yaml',
      { files: new Map(), now: new Date() },
    );
    await carryOut(admin, siteWrites(home, other, [FACTORY, 'sno.other.test']), limits);
    const ingress = await read(openShiftResources.ingresses, { name: 'cluster' });
    t.equal(ingress.spec.appsDomain, undefined);
    t.equal(ingress.spec.componentRoutes, undefined);
  });

  await t.test('the step: certificates, objects, labels and manifests', async (t) => {
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'edge-0' } };
    await admin.create(resources.nodes, {}, node, limits);
    const step = await stepOn(t, siteObjectsOnOpenShift, admin, {
      former: { clusterName: 'sno', baseDomain: 'factory.test' },
      site: 'api_version: 1\ncluster_name: sno\nbase_domain: step.test\nnode_labels: {site: "7"}\n',
      manifests: EXTRA,
    });
    await t.rejects(step.run(), { kind: 'fatal', message: /certificates of the site/ });
    await siteCertificatesOnOpenShift.run(step.context, step.progress());
    t.notOk(await step.holds());
    t.match(await step.run(), { kind: 'done', note: /3 manifests/ });
    t.ok(await step.holds());
    const { metadata } = await read(resources.nodes, { name: 'edge-0' });
    t.match(metadata.labels, { site: '7' });
    t.ok(await admin.find(resources.configMaps, { namespace: 'shop', name: 'extra' }, limits));
    const ingress = await read(openShiftResources.ingresses, { name: 'cluster' });
    t.equal(ingress.spec.appsDomain, 'apps.sno.step.test');

    // A kind that an operator serves only later: sno-deferred applies it, with the rights for its group only.
    t.match(step.said.join(''), /Fast one: waits until fast\.site\.test\/v1 serves it/);
    await appliedLater(t, cluster, step.host);
  });

  await t.test('what the installation does not have (any more)', async (t) => {
    const kubeadmin = { namespace: 'kube-system', name: 'kubeadmin' };
    await admin.remove(resources.secrets, kubeadmin, limits);
    await t.rejects(carryOut(admin, writes, limits), {
      kind: 'fatal',
      code: 'reconfigure-refused',
      message: /no user kubeadmin any more/,
    });
    t.equal(await admin.find(resources.secrets, kubeadmin, limits), undefined, 'it is not made');
    const plain = parseSiteConfig(
      'api_version: 1\ncluster_name: sno\nbase_domain: site.test\n',
      'site-config.yaml',
      { files: new Map(), now: new Date() },
    );
    const controller = { namespace: 'openshift-ingress-operator', name: 'default' };
    await admin.remove(openShiftResources.ingressControllers, controller, limits);
    await t.rejects(carryOut(admin, siteWrites(plain, identity, [FACTORY]), limits), {
      kind: 'retry',
      message: /IngressController default does not exist/,
    });
  });
});
