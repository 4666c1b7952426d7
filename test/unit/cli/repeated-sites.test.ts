/** What the rows of a table of sites must not have in common. */
import t from 'tap';
import { repeatedIn, sharedAddresses } from '../../../cli/site/repeated.ts';
import { parseSiteConfig } from '../../../lib/config/site-config/read.ts';

const network = (ip: string) => `raw_nm_state_config:
  interfaces:
  - {name: eno1, type: ethernet, state: up, ipv4: {enabled: true, dhcp: false, address: [{ip: ${ip}, prefix-length: 24}]}}
  routes: {config: [{destination: 0.0.0.0/0, next-hop-address: 192.0.2.1, next-hop-interface: eno1}]}
`;
const site = (name: string, host: string, ip: string) =>
  parseSiteConfig(
    `api_version: 1\ncluster_name: ${name}\nbase_domain: example.com\nhosts: [${host}]\n${network(ip)}`,
    'site-config.yaml',
    { files: new Map(), now: new Date() },
  );

t.test('rows that are three sites', async (t) => {
  const rows = [
    { line: 2, config: site('a', 'sn-1', '192.0.2.10') },
    { line: 3, config: site('b', 'sn-2', '192.0.2.11') },
    { line: 4, config: site('c', 'sn-3', '192.0.2.12') },
  ];
  t.same(repeatedIn(rows), []);
  t.same(sharedAddresses(rows), []);
});

t.test('one machine, one name, one address', async (t) => {
  const rows = [
    { line: 2, config: site('a', 'sn-1', '192.0.2.10') },
    { line: 3, config: site('a', 'SN-1', '192.0.2.10') },
    { line: 5, config: site('c', 'sn-3', '192.0.2.12') },
    { line: 6, config: site('d', 'sn-3', '192.0.2.13') },
  ];
  t.same(repeatedIn(rows), [
    'line 3: the machine sn-1 is that of line 2',
    'line 6: the machine sn-3 is that of line 5',
    'line 3: the domain a.example.com is that of line 2',
  ]);
  t.same(sharedAddresses(rows), ['line 3: the address 192.0.2.10 is that of line 2']);
});
