import { jsonPath } from '../../lib/ignition/config.ts';
import type { ConfigDocument } from './document.ts';
import type { Fault } from './fault.ts';
import { cidrProblem, type NamedNetwork, overlaps, prefixOf } from './networks.ts';
import { NETWORK_DEFAULTS } from './schema.ts';

interface Found extends NamedNetwork {
  byDefault: boolean;
}

/**
 * Faults between fields of `networking`, looked for in whatever fields are valid by
 * themselves, so that they are found together with all others.
 */
export function networkFaults(value: unknown, document: ConfigDocument): Fault[] {
  const networking = child(value, 'networking');
  const networks = [
    ...found(networking, 'machineNetwork', NETWORK_DEFAULTS.machineNetwork),
    ...found(
      networking,
      'clusterNetwork',
      NETWORK_DEFAULTS.clusterNetwork.map(({ cidr }) => cidr),
    ),
    ...found(networking, 'serviceNetwork', NETWORK_DEFAULTS.serviceNetwork),
  ];
  // The user's come last, so that a fault points to a line that exists.
  const ordered = networks.toSorted((a, b) => Number(b.byDefault) - Number(a.byDefault));
  const overlapping = overlaps(ordered).map(([later, earlier]): Fault => {
    const isDefault = networks.some((each) => each.path === earlier.path && each.byDefault);
    return {
      position: document.positionOf(later.path),
      field: jsonPath(later.path),
      expected: `a network apart from ${jsonPath(earlier.path)} (${earlier.cidr}${isDefault ? ', the default' : ''})`,
      found: later.cidr,
      fix: 'Change one of the two: their addresses overlap.',
    };
  });
  return [...overlapping, ...hostPrefixFaults(networking, document)];
}

function hostPrefixFaults(networking: unknown, document: ConfigDocument): Fault[] {
  const list = child(networking, 'clusterNetwork');
  if (!Array.isArray(list)) return [];
  return list.flatMap((entry: unknown, index): Fault[] => {
    const cidr = child(entry, 'cidr');
    const given = child(entry, 'hostPrefix');
    const hostPrefix = given ?? NETWORK_DEFAULTS.hostPrefix;
    if (typeof cidr !== 'string' || cidrProblem(cidr) !== undefined) return [];
    if (typeof hostPrefix !== 'number' || hostPrefix >= prefixOf(cidr)) return [];
    const path = ['networking', 'clusterNetwork', index, 'hostPrefix'];
    return [
      {
        position: document.positionOf(path),
        field: jsonPath(path),
        expected: `at least ${prefixOf(cidr)}, the prefix length of ${cidr}`,
        found: `${hostPrefix}${given === undefined ? ' by default' : ''}`,
        fix: "Give a node's share of the network that is no larger than the network.",
      },
    ];
  });
}

function found(networking: unknown, name: string, defaults: readonly string[]): Found[] {
  const list = child(networking, name);
  if (list === undefined) {
    return defaults.map((cidr) => ({ path: ['networking', name], cidr, byDefault: true }));
  }
  if (!Array.isArray(list)) return [];
  return list.flatMap((entry: unknown, index): Found[] => {
    const cidr = typeof entry === 'string' ? entry : child(entry, 'cidr');
    if (typeof cidr !== 'string' || cidrProblem(cidr) !== undefined) return [];
    const path = ['networking', name, index, ...(typeof entry === 'string' ? [] : ['cidr'])];
    return [{ path, cidr, byDefault: false }];
  });
}

function child(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
