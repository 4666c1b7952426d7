import type { Problem } from '../../base/errors/problem.ts';
import { canonicalAddress } from '../../base/network/address.ts';
import { networkText, overlap, parseNetwork } from '../../base/network/network.ts';

/** Ranges in which no host of a cluster can have an address. */
const UNUSABLE: readonly { range: string; why: string; fix?: string }[] = [
  { range: '0.0.0.0/8', why: 'which means "this network"' },
  { range: '127.0.0.0/8', why: 'which is loopback' },
  { range: '169.254.0.0/16', why: 'which is link-local' },
  { range: '224.0.0.0/4', why: 'which is multicast' },
  { range: '::/127', why: 'which is loopback' },
  {
    range: '::ffff:0:0/96',
    why: 'which stands for IPv4 addresses',
    fix: 'Write it as an IPv4 network.',
  },
  { range: 'fe80::/10', why: 'which is link-local' },
  { range: 'ff00::/8', why: 'which is multicast' },
];

const ANY_NETWORK = {
  expected: 'an IPv4 or IPv6 network in CIDR notation',
  fix: 'Write it as 10.0.0.0/16 or fd00:1::/64.',
} as const;

/** Why a string is not a network that a cluster can use. */
export function cidrProblem(text: string): Problem | undefined {
  const network = parseNetwork(text);
  if (network === undefined) return ANY_NETWORK;
  if (canonicalAddress(text.slice(0, text.indexOf('/'))) !== network.address) {
    return {
      expected: 'the first address of a network',
      fix: `Write it as ${networkText(network)}.`,
    };
  }
  const unusable = UNUSABLE.find(({ range }) => {
    const parsed = parseNetwork(range);
    return parsed !== undefined && overlap(parsed, network);
  });
  if (unusable === undefined) return undefined;
  const { range, why, fix = 'Choose another.' } = unusable;
  return { expected: `a network outside of ${range}, ${why}`, fix };
}
