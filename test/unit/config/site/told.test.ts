/** The state of a host as nmstate tells it is a right input, and what is near it is not. */
import t from 'tap';
import { isRecord } from '../../../../lib/base/json.ts';
import { readDocument } from '../../../../lib/config/file/document.ts';
import { hostAddressMisfits } from '../../../../lib/config/site/addresses/judge.ts';
import { clusterNetworks } from '../../../../lib/config/site/addresses/own-networks.ts';
import { addressPlan } from '../../../../lib/config/site/addresses/plan.ts';
import { nmstateMisfits } from '../../../../lib/config/site/nmstate/document.ts';
import { TOLD } from './told-documents.ts';

const MACHINE = { networks: ['10.0.0.0/16'], field: 'machine', isDefault: false };
const OWN = clusterNetworks(['10.128.0.0/14'], ['172.30.0.0/16']);

/** One line of each fault. */
function judged(text: string): string[] {
  const { value, faults } = readDocument(text);
  if (!isRecord(value)) throw new Error(JSON.stringify(faults));
  return [...nmstateMisfits(value, 'hostname'), ...hostAddressMisfits(value, MACHINE, OWN)].map(
    ({ path, expected, found }) => `${path.join('.')}: ${expected}, found ${found}`,
  );
}

t.test('what nmstate tells of a host is accepted', async (t) => {
  for (const [name, text] of Object.entries(TOLD)) t.strictSame(judged(text), [], name);
});

const VRF = `interfaces:
- {name: eno1, type: ethernet, ipv4: {enabled: true, address: [{ip: 10.0.0.5, prefix-length: 24}]}}
- {name: vrf0, type: vrf, vrf: {port: [eno1], route-table-id: 100}}
`;

t.test('two default routes of a VRF, by its name and by its table', async (t) => {
  const text = `${VRF}routes:
  config:
  - {destination: 0.0.0.0/0, next-hop-address: 10.0.0.1, next-hop-interface: eno1, vrf-name: vrf0}
  - {destination: 0.0.0.0/0, next-hop-address: 10.0.0.2, next-hop-interface: eno1, table-id: 100}
`;
  t.match(judged(text), [/^routes\.config\.1\.metric: .*, found no metric in both$/]);
});

t.test('what only looks like no router', async (t) => {
  const hop = (address: string) =>
    judged(
      `${VRF}routes: {config: [{destination: 0.0.0.0/0, next-hop-address: "${address}", next-hop-interface: eno1}]}`,
    );
  const field = 'routes.config.0.next-hop-address';
  t.match(hop('0.0.0.1'), [new RegExp(`^${field}: the address of a router, found 0\\.0\\.0\\.1`)]);
  // nmstate would look for a route with this address afterwards, and find another one.
  t.match(hop('::'), [new RegExp(`^${field}: an IPv4 address`)]);
});

t.test('an option of a bond that is empty is not set', async (t) => {
  const bond = TOLD['a bond']?.replace('arp_interval: 0', 'arp_interval: 100') ?? '';
  const text = bond.replace('miimon: 100', 'miimon: 0');
  t.match(judged(text), [/options\.arp_interval: arp_ip_target beside it/]);
});

t.test('ports of a bond under another key are one fault', async (t) => {
  const text = (key: string) =>
    `interfaces: [{name: a, type: bond, ipv4: {enabled: true, dhcp: true}, link-aggregation: {mode: 1, ${key}: [eno1], options: {primary: eno1}}}]`;
  t.match(judged(text('slaves')), [/link-aggregation\.slaves: an nmstate key/]);
  t.equal(judged(text('slaves')).length, 1);
  t.strictSame(judged(text('ports')), []);
});

t.test('a route belongs to the table of its VRF', async (t) => {
  const { value } = readDocument(TOLD['two VRFs'] ?? '');
  const { routes } = addressPlan(isRecord(value) ? value : {});
  t.strictSame(
    routes.map(({ table }) => table),
    [254, 100, 101],
  );
});
