/** site-config.yaml: what is refused, with line and field, and what becomes of the rest. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { sshPublicKey } from '../../../../lab/site-inputs.ts';
import { networkAfter } from '../../../../lib/config/site-config/name-servers.ts';
import { parseSiteConfig, readSiteConfig } from '../../../../lib/config/site-config/read.ts';
import { siteDomain } from '../../../../lib/config/site-config/site-config.ts';
import { SITE_CA } from '../../cli/certificates.ts';
import { sno } from '../../cli/run-sno.ts';
import { NOW } from '../../relocation/site-volume/volumes.ts';
import { badSiteConfigs } from './bad-site-configs.ts';
import { GOOD_SITE } from './good-site.ts';

const context = { files: new Map(), now: NOW };

for (const {
  name,
  more = '',
  yaml = `${GOOD_SITE}${more}`,
  faults,
  says,
  hides,
} of badSiteConfigs) {
  t.test(`refused: ${name}`, async (t) => {
    const dir = t.testdir({ 'site-config.yaml': yaml });
    const { code, out, err } = await sno(['verify', 'site-config', join(dir, 'site-config.yaml')]);
    t.equal(code, 2);
    t.equal(out, '');
    const [head = '', ...lines] = err.split('\n');
    t.match(head, `${faults.length} error${faults.length === 1 ? '' : 's'} in site-config.yaml; `);
    t.same(
      lines.map((line) =>
        /^site-config\.yaml:(\d+):\d+ (.*?): expected /.exec(line)?.slice(1).join(' '),
      ),
      faults,
      err,
    );
    for (const line of lines) t.match(line, /: expected .+, found .+\. .+[.?]$/);
    if (says !== undefined) t.match(err, says);
    if (hides !== undefined) t.notMatch(err, hides);
    t.same(readdirSync(dir), ['site-config.yaml'], 'nothing is written');
  });
}

t.test('each list has its most', (t) => {
  const networks = (count: number) =>
    Array.from({ length: count }, (_, at) => `10.${at + 1}.0.0/24`);
  const count = (of: number, what: (at: number) => string) =>
    `[${Array.from({ length: of }, (_, at) => what(at)).join(', ')}]`;
  const lists: [most: number, more: (of: number) => string][] = [
    [3, (of) => `dns: {servers: ${count(of, (at) => `192.168.7.${at + 1}`)}}\n`],
    [6, (of) => `dns: {search: ${count(of, (at) => `d${at}.example.com`)}}\n`],
    [8, (of) => `machine_networks: [${networks(of)}]\n`],
    [32, (of) => `siteChecks: ${count(of, (at) => `ping: 192.168.7.${at + 1}`)}\n`],
    [1000, (of) => `hosts: ${count(of, (at) => `"SN${at}A"`)}\n`],
  ];
  for (const [most, more] of lists) {
    const read = (of: number) => readSiteConfig(`${GOOD_SITE}${more(of)}`, context);
    t.match(read(most), { ok: true }, more(1));
    const longer = read(most + 1);
    t.equal(longer.ok, false, more(1));
    if (!longer.ok) t.match(JSON.stringify(longer.faults), new RegExp(`most ${most}`));
  }
  t.end();
});

t.test('the smallest configuration leaves what the node has', async (t) => {
  const config = parseSiteConfig(GOOD_SITE, 'site-config.yaml', context);
  t.equal(siteDomain(config), 'shop.example.com');
  t.same(config, {
    serial: undefined,
    validUntil: undefined,
    hosts: [],
    clusterName: 'shop',
    baseDomain: 'example.com',
    hostname: undefined,
    renameNode: false,
    nodeAddress: 'internal',
    machineNetworks: [],
    networkConfig: undefined,
    expectedAdapters: [],
    dns: { servers: [], search: [] },
    additionalNtpSources: [],
    proxy: undefined,
    additionalTrustBundle: undefined,
    imageMirrors: undefined,
    pullSecret: undefined,
    sshKeys: undefined,
    kubeadminPasswordHash: undefined,
    nodeLabels: {},
    certificates: { api: undefined, ingress: undefined },
    siteChecks: [],
    allowRestart: false,
    keepHostKeys: false,
  });
});

const KEYS = [sshPublicKey(), sshPublicKey()];
const WHOLE = `${GOOD_SITE.replace('example.com', 'example.com.')}serial: 12
validUntil: 2027-01-31
hosts: [CZ1234ABCD, "52:54:00:AB:CD:EF"]
hostname: shop1.example.com
renameNode: yes
nodeAddress: site
machine_networks: [192.168.7.0/24]
raw_nm_state_config:
  interfaces:
    - name: eno1
      type: ethernet
      state: up
      mac-address: 52:54:00:12:34:56
      ipv4: {enabled: true, dhcp: false, address: [{ip: 192.168.7.10, prefix-length: 24}]}
  routes: {config: [{destination: 0.0.0.0/0, next-hop-address: 192.168.7.1, next-hop-interface: eno1}]}
dns: {servers: [192.168.7.1], search: [shop.example.com]}
additionalNTPSources: [ntp.example.com]
proxy:
  httpProxy: http://proxy.example.com:3128
  httpsProxy: http://secure.example.com:3129
  noProxy: .example.com
additionalTrustBundle:
  userCaBundle: |
    ${SITE_CA.trim().replaceAll('\n', '\n    ')}
imageContentSources: [{source: quay.io/a, mirrors: [r.example.com/a]}]
imageDigestSources: [{source: quay.io/b, mirrors: [r.example.com/b], sourcePolicy: NeverContactSource}]
imageTagSources: [{source: quay.io/c, mirrors: [r.example.com/c]}]
pull_secret: '{"auths":{"r.example.com":{"auth":"YTpi"}}}'
ssh_key: |
  ${KEYS.join('\n\n  # of the night shift\n  ')}
kubeadmin_password_hash: $2a$10$${'a'.repeat(53)}
node_labels: {example.com/site: "0042", zone: ""}
siteChecks:
  - ping: 192.168.7.1
  - tcp: "[fd00::1]:5000"
  - dns: registry.example.com
  - https: https://registry.example.com/v2/
allowRestart: true
keepHostKeys: true
`;

t.test('every field of a whole configuration', async (t) => {
  const config = parseSiteConfig(WHOLE, 'site-config.yaml', context);
  t.match(config, {
    serial: 12,
    hosts: ['cz1234abcd', '52:54:00:ab:cd:ef'],
    baseDomain: 'example.com',
    hostname: 'shop1.example.com',
    renameNode: true,
    nodeAddress: 'site',
    expectedAdapters: ['eno1'],
    networkConfig: /mac-address: "52:54:00:12:34:56"/,
    dns: { servers: ['192.168.7.1'], search: ['shop.example.com'] },
    additionalNtpSources: ['ntp.example.com'],
    proxy: {
      httpProxy: 'http://proxy.example.com:3128',
      httpsProxy: 'http://secure.example.com:3129',
      noProxy: '.example.com',
    },
    additionalTrustBundle: /BEGIN CERTIFICATE/,
    pullSecret: '{"auths":{"r.example.com":{"auth":"YTpi"}}}',
    sshKeys: KEYS,
    nodeLabels: { 'example.com/site': '0042', zone: '' },
    allowRestart: true,
    keepHostKeys: true,
  });
  t.same(config.validUntil, new Date('2027-01-31T23:59:59Z'));
  t.same(
    config.imageMirrors?.map(({ source, digestOnly, neverContactSource }) => [
      source,
      digestOnly,
      neverContactSource,
    ]),
    [
      ['quay.io/a', true, false],
      ['quay.io/b', true, true],
      ['quay.io/c', false, false],
    ],
  );
  t.same(config.siteChecks, [
    { kind: 'ping', address: '192.168.7.1' },
    { kind: 'tcp', host: 'fd00::1', port: 5000 },
    { kind: 'dns', name: 'registry.example.com' },
    { kind: 'https', url: 'https://registry.example.com/v2/' },
  ]);
});

t.test('a volume may be used before its end, and until the last second of a day', (t) => {
  for (const [validUntil, now, ok] of [
    ['2027-01-31', '2027-01-31T23:59:58Z', true],
    ['2027-01-31', '2027-02-01T00:00:00Z', false],
    ['2027-01-31T12:00:00Z', '2027-01-31T11:59:59Z', true],
    ['2027-01-31T12:00:00Z', '2027-01-31T12:00:00Z', false],
  ] as const) {
    const at = { ...context, now: new Date(now) };
    const read = readSiteConfig(`${GOOD_SITE}validUntil: ${validUntil}\n`, at);
    t.equal(read.ok, ok, `${validUntil} at ${now}`);
  }
  t.end();
});

t.test('a proxy for one of the two protocols is none for the other', (t) => {
  const url = 'http://proxy.example.com:3128';
  for (const [name, other] of [
    ['httpProxy', 'httpsProxy'],
    ['httpsProxy', 'httpProxy'],
  ] as const) {
    const text = `${GOOD_SITE}proxy: {${name}: "${url}"}\n`;
    const { proxy } = parseSiteConfig(text, 'site-config.yaml', context);
    t.same(proxy, { [name]: url, [other]: undefined, noProxy: '' });
  }
  t.end();
});

t.test(
  'a source in imageDigestSources and in imageTagSources has both kinds of mirrors',
  async (t) => {
    const source = (mirror: string) => `[{source: quay.io/a, mirrors: [${mirror}]}]`;
    const text = `api_version: 1
cluster_name: shop
base_domain: example.com
imageDigestSources: ${source('d.example.com/a')}
imageTagSources: ${source('t.example.com/a')}
`;
    const open = { source: 'quay.io/a', neverContactSource: false };
    t.same(parseSiteConfig(text, 'site-config.yaml', context).imageMirrors, [
      { ...open, mirrors: ['d.example.com/a'], digestOnly: true },
      { ...open, mirrors: ['t.example.com/a'], digestOnly: false },
    ]);
  },
);

const RESOLVER = /dns-resolver:\n {2}config:\n {4}server:\n {6}- "192\.168\.7\.1"\n/;

t.test('name servers are part of the network, with one of the site or without', async (t) => {
  const network = (more: string) =>
    parseSiteConfig(GOOD_SITE + more, 'site-config.yaml', context).networkConfig;
  const interfaces = 'raw_nm_state_config: {interfaces: [{name: eno1, type: ethernet}]}\n';
  t.match(network('dns: {servers: [192.168.7.1]}\n'), RESOLVER);
  t.match(network(`${interfaces}dns: {servers: [192.168.7.1]}\n`), RESOLVER);
  t.match(network(`${interfaces}dns: {servers: [192.168.7.1]}\n`), 'name: "eno1"');
  t.match(network('dns: {search: [a.example.com]}\n'), /search:\n {6}- "a\.example\.com"/);
  t.notMatch(network('dns: {search: [a.example.com]}\n'), 'server');
  for (const none of ['dns: {}\n', 'dns:\n']) t.equal(network(none), undefined);
});

t.test('what a host keeps of its network after a document without interfaces', async (t) => {
  const before = 'interfaces: [{name: eno1}]\ndns-resolver: {config: {server: [192.0.2.1]}}\n';
  const dns = 'dns-resolver: {config: {server: [192.0.2.2]}}\n';
  const after = networkAfter(before, dns);
  t.match(after, 'name: "eno1"');
  t.match(after, '192.0.2.2');
  t.notMatch(after, '192.0.2.1"');
  t.equal(networkAfter(after, dns), after, 'again');
  const whole = 'interfaces: [{name: eno2}]\n';
  t.equal(networkAfter(before, whole), whole);
  for (const none of [undefined, '', 'no document: [']) t.equal(networkAfter(none, dns), dns);
});

t.test('the same in JSON, and with nmstate as a text', async (t) => {
  const nmstate = 'interfaces: [{name: eno1, type: ethernet, state: up}]';
  const json = JSON.stringify({
    api_version: 1,
    cluster_name: 'shop',
    base_domain: 'example.com',
    raw_nm_state_config: nmstate,
  });
  const yaml = `${GOOD_SITE}raw_nm_state_config: {${nmstate}}\n`;
  t.same(readSiteConfig(json, context), readSiteConfig(yaml, context));
});

t.test('a key without a value counts as omitted', async (t) => {
  const read = readSiteConfig(`${GOOD_SITE}serial:\ndns:\nhosts:\nsiteChecks:\n`, context);
  t.same(read, readSiteConfig(GOOD_SITE, context));
});
