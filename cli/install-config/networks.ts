import { BlockList, isIPv4, isIPv6 } from 'node:net';

/** A network with the field that gives it. */
export interface NamedNetwork {
  path: readonly (string | number)[];
  cidr: string;
}

interface Network {
  address: string;
  prefix: number;
}

/** Ranges in which no host of a cluster can be addressed. */
const UNUSABLE: readonly [string, string][] = [
  ['0.0.0.0/8', 'which means "this network"'],
  ['127.0.0.0/8', 'which is loopback'],
  ['169.254.0.0/16', 'which is link-local'],
  ['224.0.0.0/4', 'which is multicast'],
];

/** What keeps a text from being an IPv4 network in CIDR notation: expectation and fix; undefined when nothing does. */
export function cidrProblem(text: string): { expected: string; fix: string } | undefined {
  const expected = 'an IPv4 network in CIDR notation';
  const [address = '', prefixText = '', ...rest] = text.split('/');
  if (isIPv6(address)) {
    return { expected, fix: 'Use an IPv4 network: IPv6 is not supported yet.' };
  }
  const wellFormed =
    rest.length === 0 && isIPv4(address) && /^(\d|[12]\d|3[0-2])$/.test(prefixText);
  if (!wellFormed) return { expected, fix: 'Write it as 10.0.0.0/16.' };
  const network = { address, prefix: Number(prefixText) };
  const base = baseAddress(network);
  if (base !== address) {
    return { expected: "a network's first address", fix: `Write it as ${base}/${prefixText}.` };
  }
  const unusable = UNUSABLE.find(([range]) => overlap(text, range));
  if (unusable === undefined) return undefined;
  return {
    expected: `a network outside of ${unusable[0]}, ${unusable[1]}`,
    fix: 'Choose another.',
  };
}

/** Each network that shares addresses with an earlier one, and that one. All must be valid. */
export function overlaps(networks: readonly NamedNetwork[]): [NamedNetwork, NamedNetwork][] {
  return networks.flatMap((later, index) => {
    const earlier = networks.slice(0, index).find(({ cidr }) => overlap(cidr, later.cidr));
    return earlier === undefined ? [] : [[later, earlier]];
  });
}

export function prefixOf(cidr: string): number {
  return Number(cidr.split('/')[1]);
}

/** Two networks share addresses exactly when one holds the other's first. */
function overlap(a: string, b: string): boolean {
  return holds(a, b) || holds(b, a);
}

function holds(outer: string, inner: string): boolean {
  const list = new BlockList();
  list.addSubnet(addressOf(outer), prefixOf(outer), 'ipv4');
  return list.check(addressOf(inner), 'ipv4');
}

function addressOf(cidr: string): string {
  return cidr.split('/')[0] ?? '';
}

function baseAddress({ address, prefix }: Network): string {
  const bits = address.split('.').reduce((value, part) => value * 256 + Number(part), 0);
  const size = 2 ** (32 - prefix);
  const base = Math.floor(bits / size) * size;
  return [24, 16, 8, 0].map((shift) => Math.floor(base / 2 ** shift) % 256).join('.');
}
