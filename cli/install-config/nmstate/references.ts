import { isRecord } from '../../../lib/ignition/config.ts';
import { suggest } from '../suggest.ts';
import { entriesOf, type Misfit, type Path } from './misfit.ts';

export interface Interface {
  path: Path;
  name: string;
  entry: Record<string, unknown>;
}

/** Names of interfaces that somebody makes: a host that has just started has none of these. */
const MADE = /^(bond|team|br|virbr|dummy|vlan|vxlan|veth)[-_.]?\d|\./;

/** Those that have a name. */
export function interfacesOf(document: Record<string, unknown>): Interface[] {
  return entriesOf(document.interfaces, ['interfaces']).flatMap(({ entry, path }) =>
    isRecord(entry) && typeof entry.name === 'string' ? [{ path, name: entry.name, entry }] : [],
  );
}

/** What keeps a name from being one of an interface that there will be. */
export function referenceMisfit(all: readonly Interface[], name: string, path: Path): Misfit[] {
  const expected = 'an interface that is there';
  const declared = all.filter((each) => each.name === name);
  if (declared.some(isWanted) || (declared.length === 0 && !MADE.test(name))) return [];
  if (declared.length > 0) {
    return [
      {
        path,
        expected,
        found: `${JSON.stringify(name)}, which is to be absent`,
        fix: 'Name another.',
      },
    ];
  }
  const near = suggest(
    name,
    all.map((each) => each.name),
  );
  const declare = 'Add it to interfaces: a host has none of this name by itself.';
  return [
    { path, expected, fix: near === undefined ? declare : `Did you mean ${near}? ${declare}` },
  ];
}

/** Neither taken down nor left alone. */
export const isWanted = ({ entry }: Interface) => entry.state === undefined || entry.state === 'up';
