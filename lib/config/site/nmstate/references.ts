import { suggest } from '../../../base/errors/suggest.ts';
import { isRecord } from '../../../base/json.ts';
import { at, entriesOf, type Misfit, type Path } from './misfit.ts';

export interface Interface {
  path: Path;
  name: string;
  entry: Record<string, unknown>;
}

/** Maximum number of names that a mistyped one is compared with. */
const MOST_COMPARED = 64;
/** Names of virtual interfaces: a host that has just started has none of these. */
const MADE = /^(bond|team|br|virbr|dummy|vlan|vxlan|veth)[-_.]?\d|\./;

/** Those that have a name. */
export function interfacesOf(document: Record<string, unknown>): Interface[] {
  return entriesOf(document.interfaces, ['interfaces']).flatMap(({ entry, path }) =>
    isRecord(entry) && typeof entry.name === 'string' ? [{ path, name: entry.name, entry }] : [],
  );
}

/** All names under which others may refer to it. */
export function namesOf({ name, entry }: Interface): string[] {
  const others = [
    entry['profile-name'],
    ...entriesOf(entry['alt-names'], []).map(({ entry: alias }) => at(alias, 'name')),
  ];
  return [name, ...others.filter((each) => typeof each === 'string')];
}

/** Why a name is not that of an existing interface. */
export function referenceMisfit(all: readonly Interface[], name: string, path: Path): Misfit[] {
  const expected = 'an existing interface';
  const declared = all.filter((each) => namesOf(each).includes(name));
  if (declared.some(isWanted) || (declared.length === 0 && !MADE.test(name))) return [];
  if (declared.length > 0) {
    const states = declared.map(({ entry }) => entry.state).join(', ');
    const found = `${JSON.stringify(name)} with state ${states}`;
    const fix = `Name another, or write state: up for ${name}.`;
    return [{ path, expected: 'an interface that is up', found, fix }];
  }
  const names = all.slice(0, MOST_COMPARED).map((each) => each.name);
  const near = suggest(name, names);
  const meant = near === undefined ? '' : `Did you mean ${near}? `;
  const fix = `${meant}Declare it in interfaces: it is not a physical adapter.`;
  return [{ path, expected, fix }];
}

/** Its state is up or omitted. */
export const isWanted = ({ entry }: Interface) => entry.state === undefined || entry.state === 'up';
