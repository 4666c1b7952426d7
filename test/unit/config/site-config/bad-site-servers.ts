import type { BadSite } from './good-site.ts';

/** `@{a}` stands for the placeholder, which the linter takes for a mistake. */
const own = (text: string) => text.replaceAll('@{', '${');

/** Servers and machines that cannot be those of a site. */
export const badServers: readonly BadSite[] = [
  {
    name: 'more checks than a host makes',
    more: `siteChecks: [${Array.from({ length: 33 }, () => 'ping: 192.168.7.1').join(', ')}]\n`,
    faults: ['4 siteChecks'],
    says: /at most 32 checks/,
  },
  ...(
    [
      ['dns.servers[0]', 'dns: {servers: [0.0.0.0]}'],
      ['dns.servers[0]', 'dns: {servers: ["ff02::fb"]}'],
      ['dns.servers[0]', 'dns: {servers: ["::ffff:192.168.7.1"]}'],
      ['additionalNTPSources[0]', 'additionalNTPSources: [224.0.1.1]'],
      ['proxy.httpProxy', 'proxy: {httpProxy: "http://u:geheim@255.255.255.255:3128"}'],
      ['siteChecks[0].ping', 'siteChecks: [ping: 224.0.0.1]'],
      ['siteChecks[0].tcp', 'siteChecks: [tcp: "0.0.0.0:80"]'],
      ['siteChecks[0].https', 'siteChecks: [https: "https://[::]/"]'],
    ] as const
  ).map(
    ([field, given]): BadSite => ({
      name: `a server at no address of a host: ${given}`,
      more: `${given}\n`,
      faults: [`4 ${field}`],
      says: /an address of a host, found .*, an address of/,
      hides: /geheim/,
    }),
  ),
  ...(
    [
      ['dns.servers[0]', 'dns: {servers: [192.168.7.255]}'],
      ['additionalNTPSources[0]', 'additionalNTPSources: [192.168.7.0]'],
      ['siteChecks[0].ping', 'siteChecks: [ping: 192.168.7.255]'],
      ['siteChecks[0].tcp', 'siteChecks: [tcp: "192.168.7.0:80"]'],
    ] as const
  ).map(
    ([field, given]): BadSite => ({
      name: `a server at the end of the host's network: ${given}`,
      more: `${given}\nraw_nm_state_config: {interfaces: [{name: eno1, type: ethernet, ipv4: {enabled: true, address: [{ip: 192.168.7.10, prefix-length: 24}]}}]}\n`,
      faults: [`4 ${field}`],
      says: /an address of a host, found .*(the network itself|its broadcast address) \(192\.168\.7\.0\/24\)/,
    }),
  ),
  ...(
    [
      ['additionalNTPSources[0]', 'additionalNTPSources: [ntp.kube-system.svc.cluster.local]'],
      ['proxy.httpProxy', 'proxy: {httpProxy: "http://proxy.default.svc.cluster.local:3128"}'],
      ['siteChecks[0].tcp', 'siteChecks: [tcp: "registry.default.svc.Cluster.Local:5000"]'],
      ['siteChecks[0].https', 'siteChecks: [https: "https://registry.default.svc.cluster.local/"]'],
      ['siteChecks[0].dns', 'siteChecks: [dns: kubernetes.default.svc.cluster.local]'],
    ] as const
  ).map(
    ([field, given]): BadSite => ({
      name: `a server that only pods can look up: ${given}`,
      more: `${given}\n`,
      faults: [`4 ${field}`],
      says: /a name outside of cluster\.local, which only pods can look up, found/,
    }),
  ),
  ...['52-54-00-ab-34-56', '5254.00ab.3456'].map(
    (mac): BadSite => ({
      name: `a MAC address of another notation: ${mac}`,
      more: `hosts: [${mac}]\n`,
      faults: ['4 hosts[0]'],
      says: /a MAC address with colons, found .*Write it as "52:54:00:ab:34:56"/,
    }),
  ),
  ...['00:00:00:00:00:00', 'ff:ff:ff:ff:ff:ff', '01:00:5e:00:00:01'].map(
    (mac): BadSite => ({
      name: `a MAC address of no machine: ${mac}`,
      more: `hosts: ["${mac}"]\n`,
      faults: ['4 hosts[0]'],
    }),
  ),
  {
    name: 'serial numbers out of a spreadsheet',
    more: 'hosts: [CZ1, 1.23457E+11, "=A1", "#N/A"]\n',
    faults: ['4 hosts[1]', '4 hosts[2]', '4 hosts[3]'],
    says: /as a spreadsheet writes.*Format the column as text/,
  },
  {
    name: 'a template that is not rendered',
    more: `hostname: ${own('@{name}')}
hosts: ["{{ serial }}", <serial>]
proxy: {httpProxy: "${own('http://me:@{PASSWORD}@proxy:3128')}"}
siteChecks: [https: "${own('https://@{registry}/v2/')}"]
raw_nm_state_config:
  interfaces: [{name: "${own('@{nic}')}", type: ethernet, 802.1x: {identity: "{{geheim}}", password: x, eap-methods: [md5]}}]
`,
    faults: [
      '4 hostname',
      '5 hosts[0]',
      '5 hosts[1]',
      '6 proxy.httpProxy',
      '7 siteChecks[0].https',
      '9 raw_nm_state_config.interfaces[0].name',
      '9 raw_nm_state_config.interfaces[0]["802.1x"].identity',
    ],
    says: /expected a value, found a placeholder of a template\. Fill it in/,
    hides: /geheim|PASSWORD/,
  },
  {
    name: 'a template that is not rendered, in a document that is a text',
    more: `raw_nm_state_config: |
  interfaces: [{name: "${own('@{nic}')}", type: ethernet}]
`,
    faults: ['4 raw_nm_state_config.interfaces[0].name'],
    says: /a placeholder of a template/,
  },
];
