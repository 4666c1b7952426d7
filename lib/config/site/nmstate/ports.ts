import { suggest } from '../../../base/errors/suggest.ts';
import { isRecord } from '../../../base/json.ts';
import { at, entriesOf, type Misfit, type Path } from './misfit.ts';
import { type Interface, isWanted, namesOf, referenceMisfit } from './references.ts';
import { BOND_MODES, bondMode } from './section-rules.ts';
import { isOn, numberIn } from './values.ts';

interface Port {
  name: string;
  /** Relative to the interface. */
  path: Path;
}

/** Where bonds, bridges, VRFs and HSR interfaces name their ports. */
const PORT_LISTS = ['link-aggregation', 'bond', 'bridge', 'vrf'].map((section) => ({
  list: [section, 'port'],
  alias: [section, 'ports'],
}));
/** Where there is no list of ports. */
const SETTINGS_LISTS: readonly (readonly string[])[] = [
  ['link-aggregation', 'ports-config'],
  ['bond', 'ports-config'],
];
const PORT_KEYS: readonly (readonly string[])[] = [
  ['hsr', 'port1'],
  ['hsr', 'port2'],
];

/** Also the ports of a bond that is a port of an Open vSwitch bridge, instead of its own name. */
export function portsOf(entry: Record<string, unknown>): Port[] {
  const named = PORT_KEYS.flatMap((path) => {
    const name = at(entry, ...path);
    return typeof name === 'string' ? [{ name, path }] : [];
  });
  const ports = [...named, ...PORT_LISTS.flatMap((each) => listedPorts(entry, each))];
  if (ports.length > 0) return ports;
  return SETTINGS_LISTS.flatMap((list) => portsIn(at(entry, ...list), list));
}

/** Both lists in one section are a fault of its own. */
function listedPorts(entry: Record<string, unknown>, { list, alias }: (typeof PORT_LISTS)[number]) {
  const given = at(entry, ...list) === undefined ? alias : list;
  return portsIn(at(entry, ...given), given);
}

function portsIn(list: unknown, path: Path): Port[] {
  return entriesOf(list, path).flatMap(({ entry: port, path }): Port[] => {
    if (typeof port === 'string') return [{ name: port, path }];
    const bond = ['link-aggregation', 'bond'].find((name) => isRecord(at(port, name)));
    if (bond !== undefined) {
      return ['port', 'ports'].flatMap((list) =>
        portsIn(at(port, bond, list), [...path, bond, list]),
      );
    }
    const name = at(port, 'name');
    return typeof name === 'string' ? [{ name, path: [...path, 'name'] }] : [];
  });
}

/** Faults of bonds and bridges: their own settings, and ports that they share with others. */
export function controllerMisfits(all: readonly Interface[]): Misfit[] {
  const owners = new Map<string, string>();
  const wanted = all.filter(isWanted);
  const listedBy = new Map(
    wanted.flatMap((one) => portsOf(one.entry).map(({ name }) => [name, one] as const)),
  );
  const ownerOf = (one: Interface) =>
    namesOf(one)
      .map((name) => listedBy.get(name))
      .find((owner) => owner !== undefined && owner.entry !== one.entry);
  return [
    ...wanted.flatMap((one) => [...bondMisfits(one, all), ...portMisfits(one, all, owners)]),
    ...wanted.flatMap((one) => ofAddresses(one, ownerOf(one), wanted)),
    ...wanted.flatMap((one) => ofMtu(one, ownerOf(one))),
    ...wanted.flatMap((one) => ofOwnPort(one, wanted)),
    ...wanted.flatMap((one) => ofController(one, ownerOf(one), wanted)),
  ];
}

function bondMisfits({ entry, path }: Interface, all: readonly Interface[]): Misfit[] {
  if (entry.type !== 'bond') return [];
  const section = entry.bond === undefined ? 'link-aggregation' : 'bond';
  const bond = entry[section];
  const below = [...path, section];
  const fix = 'Write it as link-aggregation: {mode: 802.3ad, port: [eno1, eno2]}.';
  if (!isRecord(bond)) return [{ path: below, expected: 'a mapping with mode and port', fix }];
  const misfits: Misfit[] = [];
  if (bondMode(bond.mode) === undefined) {
    const near = typeof bond.mode === 'string' ? suggest(bond.mode, BOND_MODES) : undefined;
    const meant = near === undefined ? fix : `Did you mean ${near}?`;
    const expected = `one of ${BOND_MODES.join(', ')}`;
    misfits.push({ path: [...below, 'mode'], expected, fix: meant });
  }
  const ports = portsOf(entry).map(({ name }) => name);
  const settings = entriesOf(bond['ports-config'], []).map(({ entry: port }) => at(port, 'name'));
  if (ports.length === 0 && !hasOtherList(bond)) {
    misfits.push({ path: [...below, 'port'], expected: 'a list of interfaces', fix });
  }
  const isSame = ports.every((name) => settings.includes(name)) && settings.length === ports.length;
  const primary = at(bond, 'options', 'primary');
  // The kernel has the name of the adapter, also where the document has another one.
  const isByName = ports.every((port) =>
    all.every(
      (one) =>
        !namesOf(one).includes(port) ||
        [undefined, 'name'].some((by) => by === one.entry.identifier),
    ),
  );
  // Without ports that is the fault, or their misspelt key.
  const isOther =
    ports.length > 0 && typeof primary === 'string' && primary !== '' && !ports.includes(primary);
  if (isOther && isByName) {
    const expected = `a port of the bond (${ports.join(', ')})`;
    misfits.push({ path: [...below, 'options', 'primary'], expected, fix: 'Name one of these.' });
  }
  if (Array.isArray(bond['ports-config']) && !isSame) {
    const expected = 'the same interfaces as in port';
    const fix = 'Name each port of the bond once in both lists.';
    misfits.push({ path: [...below, 'ports-config'], expected, fix });
  }
  return misfits;
}

/** Perhaps its ports, under a key that nmstate does not know: a fault of its own. */
const hasOtherList = (bond: Record<string, unknown>): boolean =>
  Object.entries(bond).some(
    ([key, value]) => Array.isArray(value) && !['port', 'ports', 'ports-config'].includes(key),
  );

/** `owners` has the ports of the interfaces before this one; those of this one are added. */
function portMisfits(
  one: Interface,
  all: readonly Interface[],
  owners: Map<string, string>,
): Misfit[] {
  const seen = new Set<string>();
  return portsOf(one.entry).flatMap(({ name, path: below }): Misfit[] => {
    const path = [...one.path, ...below];
    const expected = 'a port of one interface only';
    // The port with the name of an Open vSwitch bridge is its own interface.
    if (name === one.name && one.entry.type !== 'ovs-bridge') {
      const found = 'the interface itself';
      return [{ path, expected, found, fix: 'List the interfaces that it consists of.' }];
    }
    if (seen.has(name)) {
      const fix = 'Remove one of the two.';
      return [{ path, expected: 'each port once', fix }];
    }
    seen.add(name);
    const owner = owners.get(name) ?? one.name;
    owners.set(name, owner);
    // The kernel has no bridge in a bridge (br_add_if).
    const isBridge = ({ entry }: Interface) => entry.type === 'linux-bridge';
    if (isBridge(one) && all.some((each) => isBridge(each) && namesOf(each).includes(name))) {
      const fix = 'List the ports of that bridge here, and remove it.';
      return [{ path, expected: 'a port that is no bridge itself', fix }];
    }
    // Open vSwitch makes its own ports.
    if (owner === one.name) {
      return one.entry.type === 'ovs-bridge' ? [] : referenceMisfit(all, name, path);
    }
    const found = `${JSON.stringify(name)}, also a port of ${owner}`;
    return [{ path, expected, found, fix: 'Remove it from one of the two.' }];
  });
}

/** A port belongs to its bond or bridge, which has the addresses. */
function ofAddresses(
  one: Interface,
  listedBy: Interface | undefined,
  wanted: readonly Interface[],
): Misfit[] {
  const { controller } = one.entry;
  const named =
    typeof controller === 'string' && controller !== ''
      ? wanted.find(({ name, entry }) => name === controller && entry !== one.entry)
      : undefined;
  const owner = listedBy ?? named;
  if (owner === undefined || one.entry.type === 'ovs-interface') return [];
  if (['vrf', 'hsr'].includes(`${owner.entry.type}`)) return [];
  return ['ipv4', 'ipv6'].flatMap((family) => {
    if (!isOn(at(one.entry, family, 'enabled'))) return [];
    const path = [...one.path, family, 'enabled'];
    const expected = `false: the interface is a port of ${owner.name}`;
    return [{ path, expected, fix: `Move the addresses to ${owner.name}.` }];
  });
}

/** The bond gives its ports its own. */
function ofMtu({ entry, path }: Interface, owner: Interface | undefined): Misfit[] {
  const [own, its] = [numberIn(entry.mtu), numberIn(owner?.entry.mtu)];
  if (owner?.entry.type !== 'bond' || own === undefined || its === undefined || own === its)
    return [];
  const expected = `${its}, as that of ${owner.name}`;
  return [
    { path: [...path, 'mtu'], expected, fix: 'Write the same in both places, or omit it here.' },
  ];
}

/** NetworkManager refuses an interface of Open vSwitch that is no port of a bridge (nm-setting-ovs-interface.c, verify). */
function ofOwnPort({ entry, path, name }: Interface, wanted: readonly Interface[]): Misfit[] {
  if (entry.type !== 'ovs-interface' || typeof entry.controller === 'string') return [];
  const isListed = wanted.some((one) => portsOf(one.entry).some((port) => port.name === name));
  const bridge = wanted.find((one) => one.name === name && one.entry.type === 'ovs-bridge');
  const hasList =
    (at(bridge?.entry, 'bridge', 'port') ?? at(bridge?.entry, 'bridge', 'ports')) !== undefined;
  if (isListed || !hasList) return [];
  const expected = `a port of the bridge ${name}`;
  return [
    { path: [...path, 'name'], expected, fix: `Add {name: ${name}} to bridge.port of the bridge.` },
  ];
}

/** `controller` says the same as the list of ports. */
function ofController(
  one: Interface,
  listed: Interface | undefined,
  wanted: readonly Interface[],
): Misfit[] {
  const { controller } = one.entry;
  if (typeof controller !== 'string') return [];
  const path = [...one.path, 'controller'];
  if (listed !== undefined && listed.name !== controller) {
    const expected = `${listed.name}, which lists it as a port`;
    return [{ path, expected, fix: 'Write the same in both places.' }];
  }
  if (controller === '') return [];
  const named = wanted.filter(({ name, entry }) => name === controller && entry !== one.entry);
  if (named.length === 0) {
    const expected = 'a bond or bridge of this document';
    return [{ path, expected, fix: 'Declare it in interfaces.' }];
  }
  const hasList = named.some(({ entry }) =>
    PORT_LISTS.some(({ list, alias }) => (at(entry, ...list) ?? at(entry, ...alias)) !== undefined),
  );
  if (listed !== undefined || !hasList) return [];
  return [
    { path, expected: `a port in the list of ${controller}`, fix: `Add it to ${controller}.` },
  ];
}
