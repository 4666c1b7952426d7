import { sshPublicKey } from '../../../../lab/site-inputs.ts';
import { type BadSite, GOOD_SITE } from './good-site.ts';

/** Which sshd of RHEL refuses. */
const RSA_1024 =
  'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQDfbZ40gJuTZ4gyN8VaDQm/kjzVKqSRpQXEr9r/V2Ss+L7xbYqbGuK0Qixj6ifGPtKNP49oyRs4mkLI71sIZtW+9ypHkhoNcRehvEgoHG1Q7aI5NXQ4cxzfIob808BHJ3HJzgQ765xLYcRK1TI98piET7lM1dgH9XAxhh2tOZNLOQ==';

/** Fields with wrong values. */
export const badFields: readonly BadSite[] = [
  {
    name: 'a mistyped field',
    more: 'hostnam: a\n',
    faults: ['4 hostnam'],
    says: /Did you mean hostname\?/,
  },
  {
    name: 'a field of install-config.yaml',
    more: 'networkConfig: {}\n',
    faults: ['4 networkConfig'],
    says: /Use raw_nm_state_config/,
  },
  {
    name: 'in another case',
    more: 'pullSecret: "{}"\n',
    faults: ['4 pullSecret'],
    says: /Did you mean pull_secret\?/,
  },
  ...[
    ...['cluster_id', 'infra_id', 'node_ip', 'node_ips', 'machine_network', 'release_registry'],
    ...['server_ssh_keys', 'chrony_config', 'install_config', 'status_proxy'],
    ...['KubeconfigCryptoRetention', 'metadata', 'apiVersion', 'kind'],
  ].map(
    (name): BadSite => ({
      name: `${name} of SeedReconfiguration`,
      more: `${name}: x\n`,
      faults: [`4 ${name}`],
      says: /expected no such field.*\. (Use|Write|Remove it)[ :.]/,
    }),
  ),
  ...['proxyConfigmapName', 'proxyConfigmapBundle'].map(
    (name): BadSite => ({
      name: `${name} of SeedReconfiguration`,
      more: `additionalTrustBundle: {${name}: x}\n`,
      faults: [`4 additionalTrustBundle.${name}`],
      says: /Use userCaBundle/,
    }),
  ),
  { name: 'another version', yaml: GOOD_SITE.replace('1', '2'), faults: ['1 api_version'] },
  {
    name: 'a cluster name in upper case',
    yaml: GOOD_SITE.replace('shop', 'Shop'),
    faults: ['2 cluster_name'],
  },
  {
    name: 'a cluster name with dots',
    yaml: GOOD_SITE.replace('shop', 'a.b'),
    faults: ['2 cluster_name'],
  },
  {
    name: 'a domain that is none',
    yaml: GOOD_SITE.replace('example.com', 'exa_mple.com'),
    faults: ['3 base_domain'],
  },
  ...['0', '-1', '1.5', '"1"', '1e99', 'true'].map(
    (serial): BadSite => ({
      name: `serial ${serial}`,
      more: `serial: ${serial}\n`,
      faults: ['4 serial'],
    }),
  ),
  ...['2027-02-30', '2027-13-01', 'tomorrow', '2027-01-01T00:00:00', '20270101', '12'].map(
    (time): BadSite => ({
      name: `validUntil ${time}`,
      more: `validUntil: ${time}\n`,
      faults: ['4 validUntil'],
    }),
  ),
  {
    name: 'an end in the past',
    more: 'validUntil: 2020-01-01\n',
    faults: ['4 validUntil'],
    says: /a time after/,
  },
  { name: 'no hosts', more: 'hosts: []\n', faults: ['4 hosts'] },
  {
    name: 'a host that is a number',
    more: 'hosts: [1234]\n',
    faults: ['4 hosts[0]'],
    says: /in quotes/,
  },
  {
    name: 'serial numbers that many machines have',
    more: 'hosts: [None, CZ1, Default string, 03000200-0400-0500-0006-000700080009]\n',
    faults: ['4 hosts[0]', '4 hosts[2]', '4 hosts[3]'],
  },
  { name: 'a torn MAC address', more: 'hosts: ["52:54:00:12:34"]\n', faults: ['4 hosts[0]'] },
  { name: 'a host twice', more: 'hosts: [CZ1, A, cz1]\n', faults: ['4 hosts[2]'] },
  { name: 'localhost', more: 'hostname: localhost\n', faults: ['4 hostname'] },
  { name: 'a host name with _', more: 'hostname: sno_1\n', faults: ['4 hostname'] },
  {
    name: 'a host name of 64 characters',
    more: `hostname: ${'a'.repeat(64)}\n`,
    faults: ['4 hostname'],
  },
  {
    name: 'a Node to be renamed to nothing',
    more: 'renameNode: true\n',
    faults: ['4 renameNode'],
    says: /Set hostname too/,
  },
  {
    name: 'renameNode as a text',
    more: 'renameNode: "true"\nhostname: a\n',
    faults: ['4 renameNode'],
  },
  {
    name: 'the address of an unknown network',
    more: 'nodeAddress: site\n',
    faults: ['4 nodeAddress'],
    says: /Set machine_networks too/,
  },
  { name: 'another nodeAddress', more: 'nodeAddress: 10.0.0.1\n', faults: ['4 nodeAddress'] },
  {
    name: 'a network with host bits',
    more: 'machine_networks: [192.168.7.1/24]\n',
    faults: ['4 machine_networks[0]'],
    says: /Write it as 192\.168\.7\.0\/24/,
  },
  {
    name: 'a network that is none',
    more: 'machine_networks:\n  - 192.168.7.0/33\n',
    faults: ['5 machine_networks[0]'],
  },
  {
    name: 'a loopback network',
    more: 'machine_networks: [127.0.0.0/8]\n',
    faults: ['4 machine_networks[0]'],
  },
  {
    name: 'one network as a text',
    more: 'machine_networks: 192.168.7.0/24\n',
    faults: ['4 machine_networks'],
  },
  {
    name: 'a name server by name',
    more: 'dns: {servers: [ns.example.com]}\n',
    faults: ['4 dns.servers[0]'],
  },
  {
    name: 'four name servers',
    more: 'dns: {servers: [1.1.1.1, 1.1.1.2, 1.1.1.3, 1.1.1.4]}\n',
    faults: ['4 dns.servers'],
  },
  {
    name: 'a search domain that is none',
    more: 'dns: {search: [a..b]}\n',
    faults: ['4 dns.search[0]'],
  },
  {
    name: 'NTP with a port',
    more: 'additionalNTPSources: ["a:123"]\n',
    faults: ['4 additionalNTPSources[0]'],
  },
  { name: 'a proxy without an address', more: 'proxy: {noProxy: a}\n', faults: ['4 proxy'] },
  {
    name: 'a proxy of another scheme',
    more: 'proxy:\n  httpsProxy: socks5://u:geheim@p:1\n',
    faults: ['5 proxy.httpsProxy'],
    hides: /geheim/,
  },
  {
    name: 'a bundle without a certificate',
    more: 'additionalTrustBundle: {userCaBundle: none}\n',
    faults: ['4 additionalTrustBundle.userCaBundle'],
  },
  {
    name: 'a bundle as in install-config',
    more: 'additionalTrustBundle: none\n',
    faults: ['4 additionalTrustBundle'],
  },
  {
    name: 'a ConfigMap of the bundle',
    more: 'additionalTrustBundle: {proxyConfigmapName: a}\n',
    faults: ['4 additionalTrustBundle.proxyConfigmapName'],
    says: /Use userCaBundle/,
  },
  {
    name: 'a source with a tag',
    more: 'imageDigestSources:\n  - source: quay.io/a:1\n    mirrors: [r.example/a]\n',
    faults: ['5 imageDigestSources[0].source'],
  },
  {
    name: 'a source without mirrors',
    more: 'imageTagSources:\n  - source: quay.io/a\n    mirrors: []\n',
    faults: ['6 imageTagSources[0].mirrors'],
  },
  {
    name: 'a policy for ICSP',
    more: 'imageContentSources:\n  - source: quay.io/a\n    mirrors: [r.example/a]\n    sourcePolicy: NeverContactSource\n',
    faults: ['7 imageContentSources[0].sourcePolicy'],
  },
  {
    name: 'a pull secret that is no JSON',
    more: 'pull_secret: geheim\n',
    faults: ['4 pull_secret'],
    hides: /geheim/,
  },
  {
    name: 'a private SSH key',
    more: 'ssh_key: "-----BEGIN OPENSSH PRIVATE KEY-----"\n',
    faults: ['4 ssh_key'],
  },
  ...['""', '"# nobody"'].map(
    (keys): BadSite => ({
      name: `no SSH key: ${keys}`,
      more: `ssh_key: ${keys}\n`,
      faults: ['4 ssh_key'],
      says: /at least one key/,
    }),
  ),
  ...['command="/bin/sh"', 'cert-authority', 'from="192.0.2.1",no-pty', 'environment="A=b"'].map(
    (option): BadSite => ({
      name: `an SSH key with ${option}`,
      more: `ssh_key: |\n  ${sshPublicKey()}\n  ${option} ${sshPublicKey()}\n`,
      faults: ['4 ssh_key'],
      says: /keys without options, found options before key number 2 of 2/,
      hides: /AAAA/,
    }),
  ),
  {
    name: 'a short SSH key',
    more: `ssh_key: ${RSA_1024} short\n`,
    faults: ['4 ssh_key'],
    says: /at least 2048 bits, found 1024 bits in key number 1 of 1/,
  },
  {
    name: 'a password instead of its hash',
    more: 'kubeadmin_password_hash: geheim\n',
    faults: ['4 kubeadmin_password_hash'],
    hides: /geheim/,
  },
  {
    name: 'a label that is a number',
    more: 'node_labels: {site: 42}\n',
    faults: ['4 node_labels.site'],
  },
  {
    name: 'the key of a label',
    more: 'node_labels:\n  a/b/c: x\n',
    faults: ['5 node_labels["a/b/c"]'],
  },
  {
    name: 'a label of the kubelet',
    more: 'node_labels: {kubernetes.io/hostname: x}\n',
    faults: ['4 node_labels["kubernetes.io/hostname"]'],
  },
  {
    name: 'two checks in one',
    more: 'siteChecks: [{ping: 192.168.7.1, tcp: "a:1"}]\n',
    faults: ['4 siteChecks[0]'],
  },
  { name: 'an unknown check', more: 'siteChecks: [{http: a}]\n', faults: ['4 siteChecks[0].http'] },
  {
    name: 'a ping by name',
    more: 'siteChecks: [ping: gateway]\n',
    faults: ['4 siteChecks[0].ping'],
  },
  ...['a', 'a:0', 'a:65536', '"fd00::1:80"', '1.2.3:80', '"a b:80"'].map(
    (endpoint): BadSite => ({
      name: `a connection to ${endpoint}`,
      more: `siteChecks: [tcp: ${endpoint}]\n`,
      faults: ['4 siteChecks[0].tcp'],
    }),
  ),
  ...['http://a/', 'a', 'https://u:geheim@a/'].map(
    (url): BadSite => ({
      name: `https ${url}`,
      more: `siteChecks: [https: "${url}"]\n`,
      faults: ['4 siteChecks[0].https'],
    }),
  ),
  {
    name: 'half a certificate',
    more: 'certificates: {api: {certificate: a.crt}}\n',
    faults: ['4 certificates.api.key'],
  },
  {
    name: 'a certificate in a file that is not there',
    more: 'certificates:\n  api:\n    certificate: a.crt\n    key: a.key\n',
    faults: ['6 certificates.api.certificate', '7 certificates.api.key'],
    says: /no such file/,
  },
  {
    name: 'a certificate outside of the folder',
    more: 'certificates: {ingress: {certificate: ../a.crt, key: /a.key}}\n',
    faults: ['4 certificates.ingress.certificate', '4 certificates.ingress.key'],
  },
  { name: 'keepHostKeys as a text', more: 'keepHostKeys: "no"\n', faults: ['4 keepHostKeys'] },
  { name: 'allowRestart as a text', more: 'allowRestart: "no"\n', faults: ['4 allowRestart'] },
  {
    name: 'the domain of Services',
    yaml: GOOD_SITE.replace('example.com', 'cluster.local'),
    faults: ['3 base_domain'],
    says: /outside of cluster\.local/,
  },
  {
    name: 'an address as the domain',
    yaml: GOOD_SITE.replace('example.com', '192.168.7.1'),
    faults: ['3 base_domain'],
    says: /an address/,
  },
  {
    name: "the API's name as that of the host",
    more: 'hostname: api.shop.example.com\n',
    faults: ['4 hostname'],
    says: /one of the cluster itself/,
  },
  ...[
    'https: "https://api.shop.example.com:6443/readyz"',
    'tcp: api.shop.example.com:6443',
    'tcp: API-INT.shop.example.com:22623',
    'https: https://console.apps.shop.example.com',
    'tcp: node7:22',
    'tcp: localhost:6443',
    'https: "https://[::1]:6443"',
    'ping: 127.0.0.1',
    'ping: "0:0:0:0:0:0:0:1"',
    'ping: 192.168.7.10',
    'tcp: 192.168.7.10:6443',
  ].map(
    (check): BadSite => ({
      name: `a check of the node itself: ${check}`,
      more: `hostname: node7\nsiteChecks: [{${check}}]\nraw_nm_state_config: {interfaces: [{name: eno1, type: ethernet, ipv4: {enabled: true, address: [{ip: 192.168.7.10, prefix-length: 24}]}}]}\n`,
      faults: [`5 siteChecks[0].${check.split(':')[0]}`],
      says: /a server other than the node itself/,
    }),
  ),
  {
    name: 'hosts by a pattern in imageContentSources',
    more: 'imageContentSources: [{source: "*.example.com", mirrors: [mirror.example.net]}]\n',
    faults: ['4 imageContentSources[0].source'],
  },
  {
    name: 'a pattern of hosts with a path',
    more: 'imageDigestSources: [{source: "*.example.com/a", mirrors: [mirror.example.net]}]\n',
    faults: ['4 imageDigestSources[0].source'],
  },
];
