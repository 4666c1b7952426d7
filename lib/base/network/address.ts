import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

export type Family = 'IPv4' | 'IPv6';

/** The family of an address, or of a network in CIDR notation. */
export function familyOf(text: string): Family {
  return text.includes(':') ? 'IPv6' : 'IPv4';
}

/**
 * An unambiguous address: without a zone, and not in the octal or shortened
 * notations that only some parsers accept.
 */
export function isAddress(text: string): boolean {
  return isIP(text) !== 0 && !text.includes('%');
}

/** The canonical form of an address (RFC 5952), or the text itself if it is not an address. */
export function canonicalAddress(text: string): string {
  return isAddress(text) ? ipaddr.parse(text).toString() : text;
}

/** The address in the form of a URL's host. */
export function urlHost(address: string): string {
  return familyOf(address) === 'IPv6' ? `[${address}]` : address;
}

/** The address as 4 or 16 bytes. */
export function addressBytes(address: string): Buffer {
  return Buffer.from(ipaddr.parse(address).toByteArray());
}

/** The address that 4 or 16 bytes are, in canonical form; other bytes in hex. */
export function addressText(bytes: Uint8Array): string {
  if (bytes.length !== 4 && bytes.length !== 16) return Buffer.from(bytes).toString('hex');
  return ipaddr.fromByteArray([...bytes]).toString();
}

/** The address as a number. */
export function numberOf(address: string): bigint {
  return BigInt(`0x${addressBytes(address).toString('hex')}`);
}

/** @throws RangeError if the number is not an address of the family. */
export function addressOf(number: bigint, family: Family): string {
  const bytes = bitsOf(family) / 8;
  const digits = number.toString(16).padStart(bytes * 2, '0');
  if (number < 0n || digits.length > bytes * 2) throw new RangeError(`no ${family} address`);
  return addressText(Buffer.from(digits, 'hex'));
}

export function bitsOf(family: Family): number {
  return family === 'IPv4' ? 32 : 128;
}
