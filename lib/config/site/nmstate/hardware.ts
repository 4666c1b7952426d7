import type { Misfit } from './misfit.ts';
import { type Interface, isWanted } from './references.ts';

/** Six bytes, or the twenty of InfiniBand. */
export const isMacAddress = (given: unknown): given is string =>
  typeof given === 'string' &&
  /^[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}((:[0-9A-Fa-f]{2}){14})?$/.test(given);

/** An address that no adapter has: of a group, or nothing but zeros, as templates have it. */
export function isNoAdapters(mac: string): boolean {
  if (mac.length !== 'xx:xx:xx:xx:xx:xx'.length) return false;
  return /^[0:]+$/.test(mac) || Number.parseInt(mac.slice(0, 2), 16) % 2 === 1;
}

/** Adapters that are found by their address, and not by their name: each once. */
export function foundTwice(all: readonly Interface[]): Misfit[] {
  const seen = new Map<string, string>();
  return all.filter(isWanted).flatMap(({ entry, path, name }): Misfit[] => {
    const key = `${entry.identifier}`;
    const given = key === 'mac-address' || key === 'pci-address' ? entry[key] : undefined;
    if (typeof given !== 'string') return [];
    const other = seen.get(given.toLowerCase());
    if (other === undefined) {
      seen.set(given.toLowerCase(), name);
      return [];
    }
    const found = `${JSON.stringify(given)}, that of ${other}`;
    return [
      {
        path: [...path, key],
        expected: 'an adapter of its own',
        found,
        fix: 'Change one of the two.',
      },
    ];
  });
}
