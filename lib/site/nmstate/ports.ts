import { suggest } from '../../errors/suggest.ts';
import { isRecord } from '../../json.ts';
import { at, entriesOf, type Misfit, mistypedKeys, type Path } from './misfit.ts';
import { type Interface, referenceMisfit } from './references.ts';

const MODES = [
  ...['balance-rr', 'active-backup', 'balance-xor', 'broadcast', '802.3ad', 'balance-tlb'],
  'balance-alb',
];

interface Port {
  name: string;
  /** Relative to the interface. */
  path: Path;
}

/** Where a bond or bridge names its ports. */
const PORT_LISTS: readonly (readonly string[])[] = [
  ['link-aggregation', 'port'],
  ['link-aggregation', 'ports'],
  ['link-aggregation', 'ports-config'],
  ['bridge', 'port'],
  ['bridge', 'ports'],
];

export function portsOf(entry: Record<string, unknown>): Port[] {
  return PORT_LISTS.flatMap((list) =>
    entriesOf(at(entry, ...list), list).flatMap(({ entry: port, path }): Port[] => {
      if (typeof port === 'string') return [{ name: port, path }];
      const name = at(port, 'name');
      return typeof name === 'string' ? [{ name, path: [...path, 'name'] }] : [];
    }),
  );
}

/** Faults of bonds and bridges: their own settings, and ports that they share with others. */
export function controllerMisfits(
  wanted: readonly Interface[],
  all: readonly Interface[],
): Misfit[] {
  const owners = new Map<string, string>();
  return wanted.flatMap((one) => [...bondMisfits(one), ...portMisfits(one, all, owners)]);
}

function bondMisfits({ entry, path }: Interface): Misfit[] {
  if (entry.type !== 'bond') return [];
  const bond = entry['link-aggregation'];
  const below = [...path, 'link-aggregation'];
  const fix = 'Write it as link-aggregation: {mode: 802.3ad, port: [eno1, eno2]}.';
  if (!isRecord(bond)) return [{ path: below, expected: 'a mapping with mode and port', fix }];
  const misfits = mistypedKeys(bond, ['mode', 'options', 'port', 'ports', 'ports-config'], below);
  const { mode } = bond;
  const text = typeof mode === 'string' || typeof mode === 'number' ? `${mode}` : '';
  if (!MODES.includes(text) && !/^[0-6]$/.test(text)) {
    const near = suggest(text, MODES);
    const meant = near === undefined ? fix : `Did you mean ${near}?`;
    misfits.push({ path: [...below, 'mode'], expected: `one of ${MODES.join(', ')}`, fix: meant });
  }
  if (portsOf(entry).length === 0) {
    misfits.push({ path: [...below, 'port'], expected: 'a list of interfaces', fix });
  }
  return misfits;
}

/** `owners` has the ports of the interfaces before this one; those of this one are added. */
function portMisfits(
  one: Interface,
  all: readonly Interface[],
  owners: Map<string, string>,
): Misfit[] {
  return portsOf(one.entry).flatMap(({ name, path: below }): Misfit[] => {
    const path = [...one.path, ...below];
    const expected = 'a port of one interface only';
    if (name === one.name) {
      const found = 'the interface itself';
      return [{ path, expected, found, fix: 'List the interfaces that it consists of.' }];
    }
    const owner = owners.get(name) ?? one.name;
    owners.set(name, owner);
    if (owner === one.name) return referenceMisfit(all, name, path);
    const found = `${JSON.stringify(name)}, also a port of ${owner}`;
    return [{ path, expected, found, fix: 'Remove it from one of the two.' }];
  });
}
