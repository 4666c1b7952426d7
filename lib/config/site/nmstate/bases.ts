import { isRecord } from '../../../base/json.ts';
import { at, type Misfit } from './misfit.ts';
import { type Interface, isWanted, namesOf, referenceMisfit } from './references.ts';
import { isWhole, numberIn } from './values.ts';

/** Types with a base interface, and their encapsulation overhead in bytes (change_mtu of their drivers in the kernel). */
const BASED: Readonly<Record<string, (section: unknown) => number>> = {
  vlan: () => 0,
  'mac-vlan': () => 0,
  'mac-vtap': () => 0,
  ipvlan: () => 0,
  macsec: () => 32,
  vxlan: (section) => (`${at(section, 'remote')}`.includes(':') ? 70 : 50),
  infiniband: () => 0,
  'ip-tunnel': () => 0,
};

/** The base interface; undefined if the type has none, or none is named. */
export function baseOf(entry: Record<string, unknown>): string | undefined {
  const type = `${entry.type}`;
  const base = Object.hasOwn(BASED, type) ? at(entry, type, 'base-iface') : undefined;
  return typeof base === 'string' && base !== '' ? base : undefined;
}

/** Faults between interfaces and their base interfaces. */
export function baseMisfits(all: readonly Interface[]): Misfit[] {
  const wanted = all.filter(isWanted);
  return [
    ...wanted.flatMap((one) => [...ofVlan(one), ...ofBase(one, all), ...ofPeer(one)]),
    ...wanted.flatMap((one) => ofSource(one, all)),
    ...vlanTwice(wanted),
  ];
}

const VLAN_FIX = 'Write it as vlan: {base-iface: eno1, id: 100}.';

function ofVlan({ entry, path, name }: Interface): Misfit[] {
  if (entry.type !== 'vlan') return [];
  const { vlan } = entry;
  const below = [...path, 'vlan'];
  const fix = VLAN_FIX;
  if (!isRecord(vlan)) return [{ path: below, expected: 'a mapping with base-iface and id', fix }];
  const base = baseOf(entry);
  return [
    ...(base === undefined || base === name
      ? [{ path: [...below, 'base-iface'], expected: 'another interface', fix }]
      : []),
    ...(isWhole(vlan.id, 1, 4094)
      ? []
      : [{ path: [...below, 'id'], expected: 'an integer from 1 to 4094', fix }]),
  ];
}

function ofBase(one: Interface, all: readonly Interface[]): Misfit[] {
  const { entry, path, name } = one;
  const base = baseOf(entry);
  const type = `${entry.type}`;
  const below = [...path, type, 'base-iface'];
  if (base === undefined) return [];
  if (base === name) {
    return [
      { path: below, expected: 'another interface', fix: 'Name the one that it is made of.' },
    ];
  }
  const reference = referenceMisfit(all, base, below);
  if (reference.length > 0) return reference;
  const there = all.find(
    (each) => namesOf(each).includes(base) && each.entry.type !== 'ovs-bridge',
  );
  const [own, its] = [numberIn(entry.mtu), numberIn(there?.entry.mtu)];
  const most = its === undefined ? undefined : its - (BASED[type]?.(entry[type]) ?? 0);
  if (own === undefined || most === undefined || own <= most) return [];
  const expected = `at most ${most}: the mtu of ${base} is ${its}`;
  return [{ path: [...path, 'mtu'], expected, fix: 'Set a smaller one, or a larger one below.' }];
}

function ofPeer({ entry, path, name }: Interface): Misfit[] {
  if (at(entry, 'veth', 'peer') !== name) return [];
  const below = [...path, 'veth', 'peer'];
  return [{ path: below, expected: 'another interface', fix: 'Name the other end.' }];
}

function ofSource({ entry, path }: Interface, all: readonly Interface[]): Misfit[] {
  const source = entry['copy-mac-from'];
  return typeof source === 'string' ? referenceMisfit(all, source, [...path, 'copy-mac-from']) : [];
}

/** A base interface has one VLAN of each protocol and ID. */
function vlanTwice(wanted: readonly Interface[]): Misfit[] {
  const seen = new Map<string, string>();
  return wanted.flatMap(({ entry, path, name }): Misfit[] => {
    const [base, id] = [baseOf(entry), numberIn(at(entry, 'vlan', 'id'))];
    if (entry.type !== 'vlan' || base === undefined || id === undefined) return [];
    const key = JSON.stringify([base, id, at(entry, 'vlan', 'protocol') ?? '802.1q']);
    const other = seen.get(key);
    if (other === undefined || other === name) {
      seen.set(key, name);
      return [];
    }
    const expected = `another number than that of ${other} on ${base}`;
    return [{ path: [...path, 'vlan', 'id'], expected, fix: 'Change one of the two.' }];
  });
}
