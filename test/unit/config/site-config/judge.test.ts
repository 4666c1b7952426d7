/** What a node cannot be or do, by its facts: each case with line, field and the way. */
import t from 'tap';
import { createAuthority, issueLeaf } from '../../../../lab/certificates/signed-now.ts';
import { sshPublicKey } from '../../../../lab/site-inputs.ts';
import type { ShippedHostFacts } from '../../../../lib/config/site-config/host-facts.ts';
import { readSiteConfig } from '../../../../lib/config/site-config/read.ts';
import { facts, NOW } from '../../relocation/site-volume/volumes.ts';
import { GOOD_SITE } from './good-site.ts';

const nmstate = (address: string, prefix: number, more = '') => `raw_nm_state_config:
  interfaces:
    - name: eno1
      type: ethernet
      ipv4: {enabled: true, address: [{ip: ${address}, prefix-length: ${prefix}}]}
${more}`;

const BY_MAC = 'any\n      identifier: mac-address\n      mac-address: ';
const byMac = (mac: string) => nmstate('192.168.7.10', 24).replace('eno1', BY_MAC + mac);

interface Case {
  readonly name: string;
  readonly more: string;
  readonly facts?: Partial<ShippedHostFacts>;
  readonly faults: readonly [line: string, text: RegExp][];
}

const openshift = { controlPlane: 'openshift', clusterName: 'shop' } as const;
const DEFAULT_ROUTE =
  '  routes: {config: [{destination: 0.0.0.0/0, next-hop-interface: eno1, next-hop-address: 192.168.7.1}]}\n';
const BUNDLE = `additionalTrustBundle: {userCaBundle: ""}\n`;

const CASES: readonly Case[] = [
  { name: 'an ordinary site', more: nmstate('192.168.7.10', 24), faults: [] },
  {
    name: 'a default route',
    more: nmstate('192.168.7.10', 24, DEFAULT_ROUTE),
    faults: [],
  },
  { name: 'for this node by its MAC address', more: 'hosts: ["52:54:00:12:34:56"]\n', faults: [] },
  {
    name: 'for other nodes, of which some are shown',
    more: 'hosts: [n1, n2, n3, n4, n5, n6]\n',
    faults: [['4 hosts', /expected one of cz1234abcd, 52:54.*found n1, n2, n3, n4, n5(?!,)/]],
  },
  {
    name: 'the network of the internal address',
    more: nmstate('10.99.0.10', 24),
    faults: [
      [
        '8 raw_nm_state_config.interfaces[0].ipv4.address[0].ip',
        /without the internal address \(10\.99\.0\.5\/32\)/,
      ],
    ],
  },
  {
    name: 'the internal address itself',
    more: nmstate('10.99.0.5', 32),
    faults: [['8 raw_nm_state_config.interfaces[0].ipv4.address[0].ip', /internal address/]],
  },
  {
    name: 'a network around it',
    more: 'machine_networks: [10.0.0.0/8]\n',
    faults: [['4 machine_networks[0]', /internal address/]],
  },
  {
    name: "the pods' network",
    more: nmstate('10.130.0.1', 16),
    faults: [
      [
        '8 raw_nm_state_config.interfaces[0].ipv4.address[0].ip',
        /the pods' network \(10\.128\.0\.0\/14\)/,
      ],
    ],
  },
  {
    name: "the Services' network",
    more: 'machine_networks:\n  - 192.168.7.0/24\n  - 172.30.1.0/24\n',
    faults: [['6 machine_networks[1]', /the Services' network/]],
  },
  {
    name: 'a route into the pods',
    more: nmstate(
      '192.168.7.10',
      24,
      '  routes:\n    config:\n      - {destination: 10.129.0.0/16, next-hop-interface: eno1, next-hop-address: 192.168.7.1}\n',
    ),
    faults: [['11 raw_nm_state_config.routes.config[0].destination', /pods/]],
  },
  {
    name: 'a gateway among the Services',
    more: nmstate(
      '192.168.7.10',
      24,
      '  routes:\n    config:\n      - {destination: 0.0.0.0/0, next-hop-interface: eno1, next-hop-address: 172.30.0.1}\n',
    ),
    faults: [
      [
        '11 raw_nm_state_config.routes.config[0].next-hop-address',
        /outside of the Services' network/,
      ],
    ],
  },
  {
    name: 'a name server among the Services',
    more: 'dns: {servers: [192.168.7.1, 172.30.0.10]}\n',
    faults: [['4 dns.servers[1]', /outside of the Services' network/]],
  },
  {
    name: 'a name server of nmstate among the pods',
    more: nmstate('192.168.7.10', 24, '  dns-resolver: {config: {server: [10.128.0.3]}}\n'),
    faults: [['9 raw_nm_state_config.dns-resolver.config.server[0]', /outside of the pods/]],
  },
  {
    name: 'NTP among the pods',
    more: 'additionalNTPSources: [10.128.0.9]\n',
    faults: [['4 additionalNTPSources[0]', /outside of the pods/]],
  },
  {
    name: 'a proxy among the pods',
    more: 'proxy: {httpProxy: "http://10.128.0.9:3128"}\n',
    faults: [['4 proxy.httpProxy', /outside of the pods/]],
  },
  {
    name: 'a check of the internal address',
    more: 'siteChecks: [ping: 10.99.0.5]\n',
    faults: [['4 siteChecks[0].ping', /outside of the internal address/]],
  },
  {
    name: 'an interface that is down',
    more: nmstate(
      '10.130.0.1',
      16,
      '    - {name: eno2, type: ethernet, ipv4: {enabled: true, dhcp: true}}\n',
    ).replace('type: ethernet', 'type: ethernet\n      state: down'),
    faults: [],
  },
  {
    name: 'a router that is in no network of the site',
    more: nmstate(
      '192.168.7.10',
      24,
      '  routes: {config: [{destination: 0.0.0.0/0, next-hop-interface: eno1, next-hop-address: 192.168.8.1}]}\n',
    ),
    faults: [
      [
        '9 raw_nm_state_config.routes.config[0].next-hop-address',
        /a router in a network of eno1 \(192\.168\.7\.0\/24\), found 192\.168\.8\.1/,
      ],
    ],
  },
  {
    name: 'an address outside of machine_networks',
    more: `machine_networks: [192.168.8.0/24]\n${nmstate('192.168.7.10', 24)}`,
    faults: [
      [
        '9 raw_nm_state_config.interfaces[0].ipv4.address[0].ip',
        /an address of the node in machine_networks \(192\.168\.8\.0\/24\), found 192\.168\.7\.10\/24/,
      ],
    ],
  },
  {
    name: 'a pattern of hosts on OpenShift',
    more: 'imageDigestSources: [{source: "*.example.com", mirrors: [mirror.example.net]}]\n',
    facts: openshift,
    faults: [],
  },
  {
    name: 'a pattern of hosts on Kubernetes',
    more: 'imageDigestSources: [{source: "*.example.com", mirrors: [mirror.example.net]}]\n',
    faults: [['4 imageDigestSources[0].source', /only OpenShift knows patterns of hosts/]],
  },
  {
    name: 'a check of a Service',
    more: 'siteChecks: [tcp: "172.30.0.1:443"]\n',
    faults: [['4 siteChecks[0].tcp', /outside of the Services' network/]],
  },
  {
    name: 'names in capital letters, a question of DNS for the own API, and a final line of hyphens',
    more: 'additionalNTPSources: [NTP1.Example.COM]\ndns: {search: [Shop.Example.com]}\nsiteChecks: [tcp: "Registry.Example.com:5000", dns: api.shop.example.com]\n---\n# end\n',
    faults: [],
  },
  ...['', DEFAULT_ROUTE.replace('}]}', ', table-id: 100}]}')].map(
    (more): Case => ({
      name: `no default route in the main table on OpenShift${more}`,
      more: nmstate('192.168.7.10', 24, more),
      facts: openshift,
      faults: [['5 raw_nm_state_config', /a default route, which OVN-Kubernetes needs/]],
    }),
  ),
  {
    name: 'none of DHCP on OpenShift',
    more: 'raw_nm_state_config: {interfaces: [{name: eno1, type: ethernet, ipv4: {enabled: true, dhcp: true, auto-gateway: false}}]}\n',
    facts: openshift,
    faults: [['4 raw_nm_state_config', /a default route, which OVN-Kubernetes needs/]],
  },
  {
    name: 'DHCP on OpenShift',
    more: 'raw_nm_state_config:\n  interfaces:\n    - {name: eno1, type: ethernet, ipv4: {enabled: true, dhcp: true}}\n',
    facts: openshift,
    faults: [],
  },
  {
    name: "OVN-Kubernetes' own network on OpenShift",
    more: nmstate(
      '100.64.3.10',
      24,
      '  routes: {config: [{destination: 0.0.0.0/0, next-hop-interface: eno1, next-hop-address: 100.64.3.1}]}\n',
    ),
    facts: openshift,
    faults: [
      ['8 raw_nm_state_config.interfaces[0].ipv4.address[0].ip', /OVN-Kubernetes' join network/],
      ['9 raw_nm_state_config.routes.config[0].next-hop-address', /OVN-Kubernetes' join network/],
    ],
  },
  {
    name: 'the same on Kubernetes',
    more: nmstate('100.64.3.10', 24),
    faults: [],
  },
  {
    name: 'an adapter that is not there',
    more: nmstate('192.168.7.10', 24).replace('eno1', 'eno9'),
    faults: [
      [
        '6 raw_nm_state_config.interfaces[0].name',
        /adapters of the host \(eno1, eno2\), found "eno9"/,
      ],
    ],
  },
  {
    name: 'an adapter by its address',
    more: byMac('52:54:00:12:34:56'),
    faults: [],
  },
  {
    name: 'an adapter by an address that the host does not have',
    more: byMac('52:54:00:12:34:57'),
    facts: { adapters: ['eno1'] },
    faults: [['8 raw_nm_state_config.interfaces[0].mac-address', /adapter.*34:56\), found .*:57/]],
  },
  { name: 'where adapters may share one', more: byMac('52:54:00:12:34:57'), faults: [] },
  {
    name: 'the address of the site',
    more: 'nodeAddress: site\nmachine_networks: [192.168.7.0/24]\n',
    faults: [],
  },
  {
    name: 'the address of another family',
    more: 'nodeAddress: site\nmachine_networks: ["fd00:7::/64"]\n',
    faults: [['5 machine_networks', /a network of IPv4, as the cluster has, found IPv6/]],
  },
  {
    name: 'kubeadmin of Kubernetes',
    more: `kubeadmin_password_hash: $2a$10$${'a'.repeat(53)}\n`,
    faults: [['4 kubeadmin_password_hash', /no user kubeadmin/]],
  },
  ...[{}, openshift].map((facts) => ({
    name: 'SSH keys',
    facts,
    more: `ssh_key: ${sshPublicKey()}\n`,
    faults: [],
  })),
  {
    name: 'kubeadmin of OpenShift',
    facts: openshift,
    more: `kubeadmin_password_hash: $2a$10$${'a'.repeat(53)}\n`,
    faults: [],
  },
  { name: 'renaming the Node of Kubernetes', more: 'renameNode: true\nhostname: a\n', faults: [] },
  {
    name: 'renaming the Node of OpenShift',
    facts: openshift,
    more: 'renameNode: true\nhostname: a\n',
    faults: [['4 renameNode', /on OpenShift the Node stays sno1/]],
  },
  {
    name: "the site's address on OpenShift",
    facts: openshift,
    more: 'nodeAddress: site\nmachine_networks: [192.168.7.0/24]\n',
    faults: [['4 nodeAddress', /on OpenShift the address of the Node stays/]],
  },
  {
    name: 'another name of an OpenShift cluster',
    facts: { ...openshift, clusterName: 'factory' },
    more: '',
    faults: [['2 cluster_name', /factory, which on OpenShift stays/]],
  },
  {
    name: 'what restarts OpenShift',
    facts: openshift,
    more: `additionalNTPSources: [a]\nproxy: {httpProxy: "http://a:1"}\n${BUNDLE}`,
    faults: [
      ['4 additionalNTPSources', /needs a restart/],
      ['5 proxy', /restart/],
      ['6 additionalTrustBundle', /restart/],
    ],
  },
  {
    name: 'what may restart OpenShift',
    facts: openshift,
    more: `additionalNTPSources: [a]\n${BUNDLE}allowRestart: true\n`,
    faults: [],
  },
  { name: 'the same on Kubernetes', more: `additionalNTPSources: [a]\n${BUNDLE}`, faults: [] },
];

t.test('certificates of a Kubernetes payload', async (t) => {
  const { certificate, key } = await issueLeaf(
    await createAuthority('site', 100, NOW),
    {
      subject: { commonName: 'api' },
      usage: 'server',
      dnsNames: ['api.shop.example.com', '*.apps.shop.example.com'],
    },
    NOW,
  );
  const text = `${GOOD_SITE}certificates:\n  api: {certificate: a, key: b}\n  ingress: {certificate: a, key: b}\n`;
  const files = new Map([
    ['a', Buffer.from(certificate)],
    ['b', Buffer.from(key)],
  ]);
  const faultsFor = (node: ShippedHostFacts) => {
    const read = readSiteConfig(text, { files, now: NOW }, node);
    return read.ok ? [] : read.faults.map(({ position, field }) => `${position?.line} ${field}`);
  };
  t.same(faultsFor(facts), ['6 certificates.ingress']);
  t.same(faultsFor({ ...facts, ...openshift }), []);
});

for (const { name, more, facts: different, faults } of CASES) {
  t.test(name, async (t) => {
    const node = { ...facts, ...different };
    const read = readSiteConfig(`${GOOD_SITE}${more}`, { files: new Map(), now: NOW }, node);
    const found = read.ok ? [] : read.faults;
    t.same(
      found.map(({ position, field }) => `${position?.line} ${field}`),
      faults.map(([line]) => line),
      JSON.stringify(found),
    );
    for (const [at, [, says]] of faults.entries()) {
      t.match(`expected ${found[at]?.expected}, found ${found[at]?.found}`, says);
      t.match(found[at]?.fix, /^[A-Z].*[.?]$/);
    }
  });
}
