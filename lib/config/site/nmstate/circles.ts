import { baseOf } from './bases.ts';
import type { Misfit } from './misfit.ts';
import { portsOf } from './ports.ts';
import { type Interface, isWanted } from './references.ts';

/** Interfaces that are made of themselves, by way of bases and ports: nmstate accepts them, no kernel can make them. */
export function circleMisfits(all: readonly Interface[]): Misfit[] {
  const parts = new Map<string, string[]>();
  for (const one of all.filter(isWanted)) {
    parts.set(one.name, [...(parts.get(one.name) ?? []), ...partsOf(one)]);
  }
  const known = new Set<string>();
  return all.filter(isWanted).flatMap(({ name, path }): Misfit[] => {
    const circle = known.has(name) ? undefined : wayBack(name, parts);
    if (circle === undefined) return [];
    for (const each of circle) known.add(each);
    const expected = 'an interface that is not made of itself';
    const fix = 'Change the base-iface or the ports of one of them.';
    return [{ path: [...path, 'name'], expected, found: circle.join(', made of '), fix }];
  });
}

/** The port with the name of an Open vSwitch bridge is another interface, and what names itself is a fault of its own. */
function partsOf({ entry, name }: Interface): string[] {
  const base = baseOf(entry);
  const names = [...(base === undefined ? [] : [base]), ...portsOf(entry).map((port) => port.name)];
  return names.filter((part) => part !== name);
}

/** From a name over its parts to itself; undefined if no way leads back. */
function wayBack(name: string, parts: ReadonlyMap<string, readonly string[]>) {
  const seen = new Set<string>();
  const ways: string[][] = [[name]];
  for (let way = ways.pop(); way !== undefined; way = ways.pop()) {
    for (const part of parts.get(way.at(-1) ?? '') ?? []) {
      if (part === name) return [...way, name];
      if (!seen.has(part)) ways.push([...way, part]);
      seen.add(part);
    }
  }
  return undefined;
}
