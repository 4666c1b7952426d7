import { addressOf, bitsOf, type Family, familyOf, isAddress, numberOf } from './address.ts';

/** A parsed network in CIDR notation. */
export interface Network {
  readonly family: Family;
  /** The network's own (first) address, in canonical form. */
  readonly address: string;
  readonly prefix: number;
}

/** Parses a network; host bits are dropped. Undefined if the text is not a network. */
export function parseNetwork(text: string): Network | undefined {
  const [address = '', length = '', ...rest] = text.split('/');
  if (rest.length > 0 || !isAddress(address) || !/^(0|[1-9]\d{0,2})$/.test(length)) {
    return undefined;
  }
  const family = familyOf(address);
  const prefix = Number(length);
  const bits = bitsOf(family);
  if (prefix > bits) return undefined;
  const size = 1n << BigInt(bits - prefix);
  const number = numberOf(address);
  return { family, address: addressOf(number - (number % size), family), prefix };
}

export function networkText({ address, prefix }: Network): string {
  return `${address}/${prefix}`;
}

/** Whether the address is in the network. */
export function contains({ family, address, prefix }: Network, other: string): boolean {
  if (familyOf(other) !== family) return false;
  const shift = BigInt(bitsOf(family) - prefix);
  return numberOf(address) >> shift === numberOf(other) >> shift;
}

/** Whether they overlap: two networks do if and only if one contains the other's first address. */
export function overlap(a: Network, b: Network): boolean {
  return contains(a, b.address) || contains(b, a.address);
}

/** The n-th address of a network, 0 being its own; undefined if it has fewer. */
export function addressAt({ family, address, prefix }: Network, index: number): string | undefined {
  if (BigInt(index) >= 1n << BigInt(bitsOf(family) - prefix)) return undefined;
  return addressOf(numberOf(address) + BigInt(index), family);
}
