import { nodeView } from '../../../../lib/cluster/csr/views.ts';
import type { Row } from './judge-cases.ts';

const name = { type: 'dns' as const, value: 'sno.example.com' };
const ip = (value: string) => ({ type: 'ip' as const, value });
const ipv4 = ip('192.0.2.10');
const ipv6 = ip('2001:db8::10');

/** A dual-stack node. The API keeps an address as written; only its value counts. */
const node = nodeView({
  metadata: { name: 'sno.example.com' },
  status: {
    addresses: [ipv4.value, '2001:DB8:0:0::10'].map((address) => ({ type: 'InternalIP', address })),
  },
});
const host = { nodeIps: [ipv4.value, ipv6.value] };

export const approvedFamilies: readonly Row[] = [
  {
    title: 'both addresses of a dual-stack node',
    host,
    node,
    request: { names: [name, ipv4, ipv6] },
  },
];

export const leftFamilies = [
  { title: 'one of the two addresses', names: [name, ipv4] },
  { title: 'the two in another order', names: [name, ipv6, ipv4] },
  { title: 'only the other one', names: [name, ipv6] },
  {
    title: "a temporary address of the interface instead of the node's",
    names: [name, ipv4, ip('2001:db8::aaaa')],
  },
  { title: 'the link-local address besides', names: [name, ipv4, ipv6, ip('fe80::1')] },
].map(({ title, names }) => ({
  rule: 'names' as const,
  title,
  host,
  node,
  request: { names },
}));
