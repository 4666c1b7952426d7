import { isIPv4 } from 'node:net';
import { Failure } from '../../steps/failure.ts';

/**
 * The n-th address of an IPv4 network, 0 being the network's own.
 *
 * @param field what the error names, such as `networking.serviceNetwork`.
 * @throws Failure (usage) when the network is not IPv4 CIDR or too small.
 */
export function addressAt(cidr: string, index: number, field: string): string {
  const { base, prefix } = parse(cidr, field);
  if (index >= 2 ** (32 - prefix)) {
    throw new Failure('usage', `${field} is too small`, {
      expected: `at least ${index + 1} addresses`,
      found: cidr,
    });
  }
  return format(base + index);
}

/**
 * The first subnet of the given size: what the controller-manager's allocator gives
 * to the first node of a cluster, and so to this one.
 *
 * @throws Failure (usage) as addressAt, and when the subnet would be larger than the network.
 */
export function firstSubnet(cidr: string, subnetPrefix: number, field: string): string {
  const { base, prefix } = parse(cidr, field);
  if (subnetPrefix < prefix || subnetPrefix > 30) {
    throw new Failure('usage', `${field}: hostPrefix does not fit the network`, {
      expected: `a value from ${prefix} to 30`,
      found: String(subnetPrefix),
    });
  }
  return `${format(base)}/${subnetPrefix}`;
}

function parse(cidr: string, field: string): { base: number; prefix: number } {
  const [address = '', length = '', ...rest] = cidr.split('/');
  const prefix = Number(length);
  const valid = isIPv4(address) && /^\d{1,2}$/.test(length) && prefix <= 32 && rest.length === 0;
  if (!valid) {
    throw new Failure('usage', `${field} is not an IPv4 network`, {
      expected: 'an address and a prefix length, such as 172.30.0.0/16',
      found: cidr,
    });
  }
  const value = address.split('.').reduce((sum, octet) => sum * 256 + Number(octet), 0);
  return { base: value - (value % 2 ** (32 - prefix)), prefix };
}

function format(value: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.');
}
