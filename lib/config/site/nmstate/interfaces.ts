import { suggest } from '../../../base/errors/suggest.ts';
import { isRecord } from '../../../base/json.ts';
import { nmstateAddressMisfits } from './address-rules.ts';
import { authenticationMisfits } from './authentication.ts';
import { baseMisfits, baseOf } from './bases.ts';
import { circleMisfits } from './circles.ts';
import { foundTwice, isMacAddress, isNoAdapters } from './hardware.ts';
import { entriesOf, listMisfit, type Misfit, noMapping, type Path } from './misfit.ts';
import { controllerMisfits, portsOf } from './ports.ts';
import { type Interface, interfacesOf, isWanted, namesOf } from './references.ts';
import { sectionMisfits } from './section-rules.ts';
import { absentSchema, interfaceSchema, TYPES, typeOfSection } from './structure/interface.ts';
import { structureMisfits } from './structure-misfits.ts';

const STATES = ['up', 'down', 'absent', 'ignore'];
const IDENTIFIERS = ['name', 'mac-address', 'pci-address'];
/** More than any host has; comparing all pairs stays fast. */
const MOST_INTERFACES = 512;
/** Not of the kernel, which knows one interface of a name and 15 characters of it. */
const isOfUserSpace = (type: unknown) => type === 'ovs-bridge' || type === 'ipsec';
/** An interface of which only a name is given is an adapter. */
const isAdapter = ({ entry }: Interface) => isOmitted(entry.type) || entry.type === 'ethernet';

export function interfaceMisfits(document: Record<string, unknown>): Misfit[] {
  const { interfaces } = document;
  if (Array.isArray(interfaces) && interfaces.length > MOST_INTERFACES) {
    const expected = `at most ${MOST_INTERFACES} interfaces`;
    const found = `${interfaces.length}`;
    return [{ path: ['interfaces'], expected, found, fix: 'Remove some.' }];
  }
  const all = interfacesOf(document);
  const fix = 'Write it as interfaces: [{name: eno1, type: ethernet, state: up, ...}].';
  return [
    ...listMisfit(document.interfaces, ['interfaces'], fix),
    ...entriesOf(document.interfaces, ['interfaces']).flatMap(({ entry, path }) =>
      isRecord(entry) ? oneInterface(entry, path) : [noMapping(path)],
    ),
    ...twiceNamed(all),
    ...controllerMisfits(all),
    ...foundTwice(all),
    ...baseMisfits(all),
    ...circleMisfits(all),
    ...all.filter(isWanted).flatMap(sectionMisfits),
    ...all.filter(isWanted).flatMap(authenticationMisfits),
    ...all.filter(isPresent).flatMap(nmstateAddressMisfits),
    ...entriesOf(document.interfaces, ['interfaces']).flatMap(({ entry, path }) =>
      isRecord(entry) ? structureMisfits(schemaOf(entry), entry, path) : [],
    ),
  ];
}

const isPresent = ({ entry }: Interface) => entry.state !== 'absent';

/** What nmstate reads of it. */
export function schemaOf(entry: Record<string, unknown>) {
  if (entry.state === 'absent') return absentSchema;
  if (!isOmitted(entry.type)) return interfaceSchema(`${entry.type}`);
  return interfaceSchema(typeBySections(entry) === 'ethernet' ? 'ethernet' : undefined);
}

/** What people call a type, where its letters do not tell. */
const MEANT = new Map([
  ['bridge', 'linux-bridge'],
  ['eth', 'ethernet'],
  ['team', 'bond'],
]);

const isOmitted = (type: unknown) => type === undefined || type === 'unknown';

/** The type that its sections need. Without a type nmstate takes it for an adapter. */
const typeBySections = (entry: Record<string, unknown>): string =>
  Object.keys(entry)
    .map(typeOfSection)
    .find((type) => type !== undefined) ?? 'ethernet';

/** The network adapters that the document expects on the host. */
export function expectedOnHost(document: Record<string, unknown>): string[] {
  const all = interfacesOf(document);
  const byName = (each: Interface) =>
    isAdapter(each) && [undefined, 'name'].includes(identifierOf(each));
  const made = new Set(all.filter((each) => !byName(each)).flatMap(namesOf));
  const named = all.filter(isWanted).flatMap((each) => {
    const base = baseOf(each.entry);
    // Open vSwitch makes a port that is not declared.
    const isOwn = (name: string) => each.entry.type === 'ovs-bridge' && name === each.name;
    return [
      ...(byName(each) ? [each.name] : []),
      ...portsOf(each.entry).flatMap(({ name }) => (isOwn(name) ? [] : [name])),
      ...(base === undefined ? [] : [base]),
    ];
  });
  return [...new Set(named)].filter((name) => !made.has(name));
}

const identifierOf = ({ entry }: Interface): string | undefined =>
  typeof entry.identifier === 'string' ? entry.identifier : undefined;

function oneInterface(entry: Record<string, unknown>, path: Path): Misfit[] {
  const { name, type, state, identifier } = entry;
  const mac = entry['mac-address'];
  const misfits: Misfit[] = [];
  const wrong = (key: string, expected: string, fix: string) =>
    misfits.push({ path: [...path, key], expected, fix });
  const byMac = identifier === 'mac-address';
  const isFreelyNamed = byMac || identifier === 'pci-address' || isOfUserSpace(type);
  if (typeof name !== 'string' || name === '') {
    const fix = 'Name the interface; with identifier: mac-address, any name is valid.';
    wrong('name', 'a string', fix);
  } else if (!isFreelyNamed && !isInterfaceName(name)) {
    const expected = 'at most 15 characters without spaces, slashes and colons';
    wrong('name', expected, 'Shorten it: the kernel allows no more.');
  }
  misfits.push(...typeMisfits(entry, path));
  if (state !== undefined && (typeof state !== 'string' || !STATES.includes(state))) {
    wrong('state', `one of ${STATES.join(', ')}`, 'Write state: up.');
  }
  if (identifier !== undefined && !IDENTIFIERS.includes(`${identifier}`)) {
    wrong('identifier', 'name, mac-address or pci-address', 'Omit it for name.');
  }
  const isMac = isMacAddress(mac);
  if (byMac ? !isMac : mac !== undefined && mac !== '' && !isMac) {
    const expected = 'six bytes such as 52:54:00:12:34:56';
    wrong('mac-address', expected, 'Copy it from the adapter, in quotes.');
  } else if (isMac && isNoAdapters(mac) && type !== 'loopback') {
    const expected = 'the address of one adapter, neither of a group nor all zeros';
    wrong('mac-address', expected, 'Copy it from the adapter, in quotes.');
  }
  if (identifier === 'pci-address' && entry['pci-address'] === undefined) {
    wrong('pci-address', 'a PCI address such as 0000:07:00.1', 'Copy it from lspci -D, in quotes.');
  }
  return misfits;
}

/** As the kernel has it (dev_valid_name), without what NetworkManager refuses (nm_utils_ifname_valid_kernel). A virtual function, which the host finds by its number, has a longer name. */
const isInterfaceName = (name: string) =>
  (/^[^\s/:%\p{C}]{1,15}$/u.test(name) && !/^(\.{1,2}|all|default|bonding_masters)$/.test(name)) ||
  /^sriov:[^\s/\p{C}]{1,15}:\d+$/u.test(name);

function typeMisfits(entry: Record<string, unknown>, path: Path): Misfit[] {
  const { type } = entry;
  const below = [...path, 'type'];
  const expected = `one of ${TYPES.join(', ')}`;
  if (isOmitted(type)) {
    const meant = typeBySections(entry);
    if (entry.state === 'absent' || meant === 'ethernet') return [];
    return [{ path: below, expected: meant, fix: `Write type: ${meant}.` }];
  }
  if (typeof type === 'string' && TYPES.includes(type)) return [];
  // As nmstate tells what it leaves alone, such as wifi.
  if (typeof type === 'string' && entry.state === 'ignore') return [];
  const near = typeof type === 'string' ? (MEANT.get(type) ?? suggest(type, TYPES)) : undefined;
  const fix =
    near === undefined ? 'Write type: ethernet for a network adapter.' : `Did you mean ${near}?`;
  return [{ path: below, expected, fix }];
}

/** The kernel has one interface of a name; of others nmstate knows one of a type. */
function twiceNamed(all: readonly Interface[]): Misfit[] {
  const keyOf = ({ name, entry }: Interface) =>
    JSON.stringify([name, isOfUserSpace(entry.type) ? entry.type : 'kernel']);
  const seen = new Set<string>();
  return all.flatMap((one) => {
    const key = keyOf(one);
    const fix = 'Merge the two entries.';
    if (seen.has(key)) return [{ path: [...one.path, 'name'], expected: 'a unique name', fix }];
    seen.add(key);
    return [];
  });
}
