/** Each field of site-config.yaml changes what a step writes or does: none is read for nothing. */
import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { ReconfigureContext } from '../../../../agents/reconfigure/context.ts';
import { placeSiteFiles } from '../../../../agents/reconfigure/files.ts';
import { hostname } from '../../../../agents/reconfigure/hostname.ts';
import { siteNetwork } from '../../../../agents/reconfigure/network.ts';
import { labelNode } from '../../../../agents/reconfigure/objects.ts';
import { startAtSite } from '../../../../agents/reconfigure/start.ts';
import { fieldsOf } from '../../../../cli/explain/config-fields.ts';
import { siteConfigJsonSchema } from '../../../../cli/explain/config-schemas.ts';
import { makeVolume } from '../../../../cli/site/make-volume.ts';
import { createAuthority, issueLeaf } from '../../../../lab/certificates/signed-now.ts';
import { sshPublicKey } from '../../../../lab/site-inputs.ts';
import { describeError } from '../../../../lib/base/errors/failure.ts';
import { identityChange } from '../../../../lib/change/identity/request.ts';
import { parseSiteConfig, readSiteConfig } from '../../../../lib/config/site-config/read.ts';
import type { SiteConfig } from '../../../../lib/config/site-config/site-config.ts';
import type { KeyPair } from '../../../../lib/pki/authority.ts';
import { siteWrites } from '../../../../lib/relocation/site-openshift/site-writes.ts';
import { SITE_CA } from '../../cli/certificates.ts';
import { startFakeApi } from '../../clients/kube/fake-api.ts';
import { facts, NOW } from '../../relocation/site-volume/volumes.ts';
import { accepted, arrived, factoryHost, INTERNAL, STATE } from './site-host.ts';

const authority = await createAuthority('site', 1000, NOW, NOW);
const other = await createAuthority('other', 1000, NOW, NOW);
const pair = (...dnsNames: string[]) =>
  issueLeaf(
    authority,
    { subject: { commonName: 'site' }, usage: 'server', dnsNames, lifetimeDays: 100 },
    NOW,
  );
const api = await pair('api.shop.example.com');
const laterApi = await pair('api.shop.example.com');
const apps = await pair('*.apps.shop.example.com');
const laterApps = await pair('*.apps.shop.example.com');
const certificate = (of: string, pair: KeyPair, issuers = authority.certificate) =>
  `certificates: {${of}: {certificate: ${JSON.stringify(pair.certificate + issuers)}, key: ${JSON.stringify(pair.key)}}}`;

const mirror = (source: string, ...mirrors: string[]) =>
  `[{source: ${source}, mirrors: [${mirrors.join()}]}]`;
const never = (field: string) =>
  `${field}: [{source: quay.io, mirrors: [m.test], sourcePolicy: NeverContactSource}]`;
const nmstate = (name: string) =>
  `raw_nm_state_config: {interfaces: [{name: ${name}, type: ethernet}]}`;

const trust = (text: string) => `additionalTrustBundle: {userCaBundle: ${JSON.stringify(text)}}`;
const pullSecret = (registry: string) => `pull_secret: '{"auths":{"${registry}":{"auth":"YTpi"}}}'`;

/** Of each field that has no fields of its own: two texts that differ in it alone. The first may leave it out. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  serial: ['serial: 7', 'serial: 8'],
  validUntil: ['validUntil: 2027-01-31', 'validUntil: 2027-02-01'],
  'hosts[]': ['hosts: [CZ1]', 'hosts: [CZ2]'],
  cluster_name: ['cluster_name: shop', 'cluster_name: till'],
  base_domain: ['base_domain: example.com', 'base_domain: example.org'],
  hostname: ['hostname: till-7', 'hostname: till-8'],
  renameNode: ['hostname: till-7', 'hostname: till-7\nrenameNode: true'],
  nodeAddress: [
    'machine_networks: [198.51.100.0/24]',
    'machine_networks: [198.51.100.0/24]\nnodeAddress: site',
  ],
  'machine_networks[]': [
    'nodeAddress: site\nmachine_networks: [198.51.100.0/24]',
    'nodeAddress: site\nmachine_networks: [203.0.113.0/24]',
  ],
  raw_nm_state_config: [nmstate('eno1'), nmstate('eno2')],
  'dns.servers[]': ['dns: {servers: [198.51.100.1]}', 'dns: {servers: [198.51.100.2]}'],
  'dns.search[]': ['dns: {search: [a.test]}', 'dns: {search: [b.test]}'],
  'additionalNTPSources[]': ['additionalNTPSources: [a.test]', 'additionalNTPSources: [b.test]'],
  'proxy.httpProxy': ['proxy: {httpProxy: "http://a:1"}', 'proxy: {httpProxy: "http://b:1"}'],
  'proxy.httpsProxy': ['proxy: {httpsProxy: "http://a:1"}', 'proxy: {httpsProxy: "http://b:1"}'],
  'proxy.noProxy': [
    'proxy: {httpProxy: "http://a:1", noProxy: a.test}',
    'proxy: {httpProxy: "http://a:1", noProxy: b.test}',
  ],
  'additionalTrustBundle.userCaBundle': [trust(SITE_CA), trust(other.certificate)],
  'imageContentSources[].source': [
    `imageContentSources: ${mirror('quay.io/a', 'm.test')}`,
    `imageContentSources: ${mirror('quay.io/b', 'm.test')}`,
  ],
  'imageContentSources[].mirrors[]': [
    `imageContentSources: ${mirror('quay.io', 'm.test')}`,
    `imageContentSources: ${mirror('quay.io', 'n.test')}`,
  ],
  'imageDigestSources[].source': [
    `imageDigestSources: ${mirror('quay.io/a', 'm.test')}`,
    `imageDigestSources: ${mirror('quay.io/b', 'm.test')}`,
  ],
  'imageDigestSources[].mirrors[]': [
    `imageDigestSources: ${mirror('quay.io', 'm.test')}`,
    `imageDigestSources: ${mirror('quay.io', 'n.test')}`,
  ],
  'imageDigestSources[].sourcePolicy': [
    `imageDigestSources: ${mirror('quay.io', 'm.test')}`,
    never('imageDigestSources'),
  ],
  'imageTagSources[].source': [
    `imageTagSources: ${mirror('quay.io/a', 'm.test')}`,
    `imageTagSources: ${mirror('quay.io/b', 'm.test')}`,
  ],
  'imageTagSources[].mirrors[]': [
    `imageTagSources: ${mirror('quay.io', 'm.test')}`,
    `imageTagSources: ${mirror('quay.io', 'n.test')}`,
  ],
  'imageTagSources[].sourcePolicy': [
    `imageTagSources: ${mirror('quay.io', 'm.test')}`,
    never('imageTagSources'),
  ],
  pull_secret: [pullSecret('a.test'), pullSecret('b.test')],
  ssh_key: [`ssh_key: ${sshPublicKey()}`, `ssh_key: ${sshPublicKey()}`],
  kubeadmin_password_hash: ['a', 'b'].map(
    (letter) => `kubeadmin_password_hash: $2a$10$${letter.repeat(53)}`,
  ),
  node_labels: ['node_labels: {example.com/site: a}', 'node_labels: {example.com/site: b}'],
  'certificates.api.certificate': [certificate('api', api), certificate('api', api, '')],
  'certificates.api.key': [certificate('api', api), certificate('api', laterApi)],
  'certificates.ingress.certificate': [
    certificate('ingress', apps),
    certificate('ingress', apps, ''),
  ],
  'certificates.ingress.key': [certificate('ingress', apps), certificate('ingress', laterApps)],
  'siteChecks[].ping': ['siteChecks: [ping: 198.51.100.1]', 'siteChecks: [ping: 198.51.100.2]'],
  'siteChecks[].tcp': [
    'siteChecks: [tcp: "closed.invalid:1"]',
    'siteChecks: [tcp: "closed.invalid:2"]',
  ],
  'siteChecks[].dns': ['siteChecks: [dns: a.test]', 'siteChecks: [dns: b.test]'],
  'siteChecks[].https': [
    'siteChecks: [https: "https://a.test/"]',
    'siteChecks: [https: "https://b.test/"]',
  ],
  allowRestart: [
    'additionalNTPSources: [a.test]',
    'additionalNTPSources: [a.test]\nallowRestart: true',
  ],
  keepHostKeys: ['', 'keepHostKeys: true'],
};

/** There is one value only. */
const FIXED = ['api_version'];

/** Fields without fields of their own. */
const leaves = (all: readonly string[]): string[] =>
  all.filter(
    (path) => !all.some((each) => each.startsWith(`${path}.`) || each.startsWith(`${path}[`)),
  );

t.test('no field of site-config.yaml is missing here', async (t) => {
  const all = fieldsOf(siteConfigJsonSchema(), '').map(({ path }) => path);
  t.same([...Object.keys(FIELDS), ...FIXED].toSorted(), leaves(all).toSorted());
});

t.test('each field of site-config.yaml changes what is done', { timeout: 900_000 }, async (t) => {
  const { api, client } = await startFakeApi(t);
  const cluster = { api, client, arrival: await arrived(t) };
  const plain = await doneFor(t, cluster, whole(''));
  t.same(await doneFor(t, cluster, whole('')), plain, 'the same from the same');
  for (const [field, [one = '', other = '']] of Object.entries(FIELDS)) {
    const before = await doneFor(t, cluster, whole(one));
    t.notSame(await doneFor(t, cluster, whole(other)), before, field);
  }
});

type Cluster = Awaited<ReturnType<typeof startFakeApi>> & {
  /** A host that has accepted a volume: what it has kept of it is copied, which is cheaper than another arrival. */
  readonly arrival: Awaited<ReturnType<typeof arrived>>;
};

const whole = (more: string): string =>
  ['api_version: 1', 'cluster_name: shop', 'base_domain: example.com']
    .filter((line) => !more.includes(line.replace(/:.*/, ':')))
    .concat(more, '')
    .join('\n');

const context = { files: new Map(), now: NOW };

/** What the laptop writes of a site, and what the steps of both payloads do with it. */
async function doneFor(t: Test, cluster: Cluster, text: string) {
  const site = parseSiteConfig(text, 'site-config.yaml', context);
  const openShift = { ...facts, controlPlane: 'openshift', clusterName: 'shop' } as const;
  return {
    volume: await volumeOf(site),
    isRefused: !readSiteConfig(text, context, openShift).ok,
    host: await hostAt(t, cluster, site),
    node: await patched(cluster, site),
    openShift: await writtenTo(cluster, site),
  };
}

/** What the manifest of the volume says of its site: digests are those of keys that are new each time. */
async function volumeOf(config: SiteConfig) {
  const signal = AbortSignal.timeout(60_000);
  const { files } = await makeVolume(
    { config, files: new Map(), skipped: [], notRead: [] },
    {},
    { facts: undefined, now: NOW, signal },
  );
  const manifest: unknown = JSON.parse(Buffer.from(files.get('site-volume.json') ?? '').toString());
  return { ...Object(manifest), files: undefined };
}

/** Files, calls of programs, requests and refusals of the steps of the Kubernetes payload. */
async function hostAt(t: Test, { arrival }: Cluster, site: SiteConfig) {
  const host = await factoryHost(t);
  cpSync(arrival.host.at(STATE), host.at(STATE), { recursive: true });
  const { context } = await accepted(host, arrival.request);
  const isChecked = site.siteChecks.length > 0;
  const siteChecks = isChecked ? site.siteChecks : context.site.siteChecks;
  const atSite: ReconfigureContext = { ...context, site: { ...site, siteChecks } };
  const address = (ifname: string, local: string) => ({
    ifname,
    addr_info: [{ local, prefixlen: 24, scope: 'global' }],
  });
  const addresses = [
    address('br-node', INTERNAL),
    address('eno1', '198.51.100.20'),
    address('eno2', '203.0.113.20'),
  ];
  host.programs.give('ip', `echo '${JSON.stringify(addresses)}'`);
  for (const name of ['getent', 'curl', 'ping', 'sshd']) host.programs.give(name, 'true');
  host.programs.give('nmstatectl', NMSTATE);
  host.write('/etc/ssh/ssh_host_rsa_key', 'that of the factory');
  host.programs.give('ssh-keygen', 'for f; do :; done; echo new > "$f"; echo new > "$f.pub"');
  const { servers, search } = site.dns;
  host.write(
    '/etc/resolv.conf',
    [...servers.map((each) => `nameserver ${each}`), `search ${search.join(' ')}`, ''].join('\n'),
  );
  const said: string[] = [];
  for (const step of [siteNetwork, placeSiteFiles, hostname, startAtSite]) {
    await step
      .run(atSite, host.progress(undefined, 10))
      .catch((error: unknown) => said.push(describeError(error)));
  }
  // The test's own, which no step has written.
  host.remove('/etc/resolv.conf');
  const all = ['/etc', '/var/lib/kubelet'].flatMap((folder) => treeOf(host.at(folder)));
  return {
    // That a check fails is what it does; of other fields, that they are not fulfilled says nothing.
    checks: isChecked ? { said, calls: host.programs.calls() } : undefined,
    all,
    identity: (await identityChange.read(host.paths))?.to,
  };
}

/** Keeps what it is given. */
const NMSTATE = `case "$*" in
"apply "*) for file; do :; done; cp "$file" "$ROOT/etc/applied" ;;
esac`;

const treeOf = (folder: string): (readonly [string, string])[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .map((path) => [path.slice(folder.length), readFileSync(path, 'utf8')] as const)
    .toSorted();

async function patched({ api, client }: Cluster, { nodeLabels }: SiteConfig) {
  api.set('/api/v1/nodes/edge-0', { metadata: { name: 'edge-0' } });
  const count = api.requests.length;
  await labelNode(client, 'edge-0', {}, limits());
  t.equal(api.requests.length, count, 'nothing to add');
  await labelNode(client, 'edge-0', nodeLabels, limits());
  return api.requests.slice(count).map(({ body }) => body);
}

const limits = () => ({ signal: AbortSignal.timeout(60_000), deadlineMs: 60_000 });

/** The requests to an API that has nothing but what an installation of OpenShift makes. */
async function writtenTo({ api, client }: Cluster, site: SiteConfig) {
  const config = '/apis/config.openshift.io/v1';
  for (const [path, spec] of Object.entries({
    [`${config}/ingresses/cluster`]: { domain: 'apps.sno.factory.test' },
    [`${config}/apiservers/cluster`]: {},
    [`${config}/proxies/cluster`]: {},
    '/apis/operator.openshift.io/v1/namespaces/openshift-ingress-operator/ingresscontrollers/default':
      {},
    '/api/v1/namespaces/kube-system/secrets/kubeadmin': {},
    '/api/v1/namespaces/openshift-config/secrets/pull-secret': {},
  })) {
    api.set(path, { metadata: { name: path.replace(/.*\//, '') }, spec });
  }
  const { api: shown = laterApi, ingress = laterApps } = site.certificates;
  const identity = { api: shown, ingress, administrators: authority.certificate };
  const requests: unknown[] = [];
  for (const write of siteWrites(site, identity, ['sno.factory.test'])) {
    requests.push(...(await write.missing(client, limits())));
  }
  return JSON.stringify(requests).replaceAll(/"resourceVersion":"\d+"/g, '');
}
