import { isRecord } from '../../../lib/ignition/config.ts';
import { suggest } from '../suggest.ts';
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

/** Where a bond or bridge names the interfaces that it is made of. */
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

/** Of an interface that is made of others: its own settings, and whether the others can be its ports. */
export function controllerMisfits(one: Interface, all: readonly Interface[]): Misfit[] {
  return [...bondMisfits(one), ...portMisfits(one, all)];
}

function bondMisfits({ entry, path }: Interface): Misfit[] {
  if (entry.type !== 'bond') return [];
  const bond = entry['link-aggregation'];
  const below = [...path, 'link-aggregation'];
  const fix = 'Write it as link-aggregation: {mode: 802.3ad, port: [eno1, eno2]}.';
  if (!isRecord(bond)) return [{ path: below, expected: 'a mapping with mode and port', fix }];
  const misfits = mistypedKeys(bond, ['mode', 'options', 'port', 'ports', 'ports-config'], below);
  const { mode } = bond;
  if (!MODES.includes(String(mode)) && !/^[0-6]$/.test(String(mode))) {
    const near = typeof mode === 'string' ? suggest(mode, MODES) : undefined;
    const meant = near === undefined ? fix : `Did you mean ${near}?`;
    misfits.push({ path: [...below, 'mode'], expected: `one of ${MODES.join(', ')}`, fix: meant });
  }
  if (portsOf(entry).length === 0) {
    misfits.push({ path: [...below, 'port'], expected: 'a list of interfaces', fix });
  }
  return misfits;
}

function portMisfits(one: Interface, all: readonly Interface[]): Misfit[] {
  return portsOf(one.entry).flatMap(({ name, path: below }): Misfit[] => {
    const path = [...one.path, ...below];
    const expected = 'a port of this interface alone';
    if (name === one.name) {
      const found = 'the interface itself';
      return [{ path, expected, found, fix: 'Name the interfaces that it is made of.' }];
    }
    const other = all.find(
      (each) =>
        each.name !== one.name &&
        all.indexOf(each) < all.indexOf(one) &&
        portsOf(each.entry).some((port) => port.name === name),
    );
    if (other === undefined) return referenceMisfit(all, name, path);
    const found = `${JSON.stringify(name)}, which is a port of ${other.name} too`;
    return [{ path, expected, found, fix: 'Remove it from one of the two.' }];
  });
}
