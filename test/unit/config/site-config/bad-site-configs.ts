/** Faulty site configurations, and the line and field of each of their faults. */
import { badFields } from './bad-site-fields.ts';
import { badServers } from './bad-site-servers.ts';
import type { BadSite } from './good-site.ts';

/** Whose aliases expand to 9^9 values. */
const BOMB = Array.from({ length: 10 }, (_, at) =>
  at === 0 ? 'a0: &a0 [x,x,x,x,x,x,x,x,x]' : `a${at}: &a${at} [${`*a${at - 1},`.repeat(9)}]`,
).join('\n');

const yaml: readonly BadSite[] = [
  { name: 'nothing', yaml: '', faults: ['1 api_version', '1 cluster_name', '1 base_domain'] },
  { name: 'a list', yaml: '- 1\n', faults: ['1 (file)'] },
  { name: 'a text', yaml: 'shop\n', faults: ['1 (file)'] },
  { name: 'not closed', more: 'hosts: [a\n', faults: ['5 YAML'] },
  { name: 'two documents', more: '---\na: 1\n', faults: ['4 YAML'] },
  { name: 'a tabulator as indentation', more: 'dns:\n\tservers: []\n', faults: ['5 YAML'] },
  {
    name: 'a key twice',
    more: 'base_domain: other.example\n',
    faults: ['4 YAML'],
    says: /each key once/,
  },
  {
    name: 'a nested key twice',
    more: 'dns:\n  search: [a.b]\n  search: [b.c]\n',
    faults: ['6 YAML'],
  },
  { name: 'aliases that expand to millions', more: `${BOMB}\n`, faults: ['8 YAML'], says: /50000/ },
  { name: 'an alias inside of itself', more: 'dns: &a {servers: *a}\n', faults: ['4 YAML'] },
  { name: 'an alias of nothing', more: 'dns: *none\n', faults: ['4 YAML'] },
  { name: 'a control character', more: 'hostname: "a\u0007"\n', faults: ['4 YAML'] },
  { name: 'a prototype', more: '__proto__: {a: 1}\n', faults: ['4 YAML'], says: /__proto__/ },
  { name: 'a key that is a list', more: '? [a]\n: 1\n', faults: ['4 YAML'] },
  {
    name: 'nesting without end',
    more: `node_labels: ${'['.repeat(100)}${']'.repeat(100)}\n`,
    faults: ['4 YAML'],
    says: /64 levels/,
  },
];

const INTERFACE = `raw_nm_state_config:
  interfaces:
    - name: eno1
      type: ethernet
      ipv4:
        enabled: true
        address:
          - ip: 192.168.7.10
            prefix-length: 24
`;

const network: readonly BadSite[] = [
  {
    name: 'an unknown section',
    more: 'raw_nm_state_config:\n  interface: []\n',
    faults: ['5 raw_nm_state_config.interface'],
    says: /Did you mean interfaces\?/,
  },
  {
    name: "the host's name in nmstate",
    more: 'raw_nm_state_config:\n  hostname: {config: a}\n',
    faults: ['5 raw_nm_state_config.hostname'],
    says: /Use hostname instead/,
  },
  {
    name: 'an address that is none',
    more: INTERFACE.replace('.10\n', '.300\n'),
    faults: ['11 raw_nm_state_config.interfaces[0].ipv4.address[0].ip'],
  },
  {
    name: 'a prefix that is too long',
    more: INTERFACE.replace('24', '33'),
    faults: ['12 raw_nm_state_config.interfaces[0].ipv4.address[0].prefix-length'],
  },
  {
    name: "the node's own bridge",
    more: INTERFACE.replace('eno1', 'br-node'),
    faults: ['6 raw_nm_state_config.interfaces[0].name'],
    says: /br-node, which has the internal address/,
  },
  {
    name: 'name servers in two places',
    more: `${INTERFACE}  dns-resolver: {config: {server: [192.168.7.1]}}\ndns: {servers: [192.168.7.1]}\n`,
    faults: ['14 dns'],
  },
  {
    name: 'nmstate as a text with a fault',
    more: 'raw_nm_state_config: |\n  interfaces:\n    - name: eno1\n      type: ethernett\n',
    faults: ['4 raw_nm_state_config.interfaces[0].type'],
    says: /found "ethernett"/,
  },
  {
    name: 'nmstate as a text that is no YAML',
    more: 'raw_nm_state_config: |\n  interfaces: [\n',
    faults: ['4 raw_nm_state_config'],
    says: /of the text/,
  },
  {
    name: 'nmstate as another text',
    more: 'raw_nm_state_config: none\n',
    faults: ['4 raw_nm_state_config'],
  },
  {
    name: 'nmstate in a file of its own',
    more: 'raw_nm_state_config: network.yaml\n',
    faults: ['4 raw_nm_state_config'],
    says: /found the path of a file\. Write interfaces/,
  },
  {
    name: 'a policy of nmstate',
    more: 'raw_nm_state_config:\n  apiVersion: nmstate.io/v1\n  kind: NodeNetworkConfigurationPolicy\n  spec: {desiredState: {}}\n',
    faults: ['6 raw_nm_state_config.kind'],
    says: /found a NodeNetworkConfigurationPolicy\. Write what is below spec\.desiredState,/,
  },
  {
    name: "the network of Assisted Installer's hosts",
    more: 'raw_nm_state_config:\n  apiVersion: agent-install.openshift.io/v1beta1\n  kind: NMStateConfig\n',
    faults: ['6 raw_nm_state_config.kind'],
    says: /Write what is below spec\.config,/,
  },
  {
    name: 'the network of a host in a cluster',
    more: 'raw_nm_state_config:\n  apiVersion: nmstate.io/v1beta1\n  kind: NodeNetworkState\n  status: {currentState: {}}\n',
    faults: ['6 raw_nm_state_config.kind'],
    says: /found a NodeNetworkState\. Write what is below status\.currentState,/,
  },
  {
    name: 'nmstate as a list',
    more: 'raw_nm_state_config: []\n',
    faults: ['4 raw_nm_state_config'],
  },
];

const several: readonly BadSite[] = [
  {
    name: 'faults in all parts at once',
    yaml: `api_version: 1
cluster_name: Shop
base_domain: example.com
serial: 0
hostname: localhost
renameNode: true
node_labels: {a: 1}
siteChecks: [ping: x]
raw_nm_state_config:
  interfaces: [{name: br-node, type: linux-bridge}]
unknown: 1
`,
    faults: [
      '2 cluster_name',
      '4 serial',
      '5 hostname',
      '7 node_labels.a',
      '8 siteChecks[0].ping',
      '10 raw_nm_state_config.interfaces[0].name',
      '11 unknown',
    ],
  },
];

export const badSiteConfigs: readonly BadSite[] = [
  ...yaml,
  ...badFields,
  ...badServers,
  ...network,
  ...several,
];
