import { isRecord, jsonPath } from '../../lib/ignition/config.ts';
import { isAddress } from '../../lib/network/address.ts';
import { contains, type Network, networkText } from '../../lib/network/network.ts';
import { DISK_VARIABLE } from './disk.ts';
import type { ConfigDocument } from './document.ts';
import { type Fault, foundText } from './fault.ts';
import { defaultNetworks } from './network-defaults.ts';
import { usableNetwork } from './networks.ts';
import { nmstateMisfits } from './nmstate/document.ts';
import { at } from './nmstate/misfit.ts';
import { proxyUrlProblem } from './proxy.ts';
import { PROXY_SCHEMES } from './schema.ts';

/**
 * Faults between the fields that a site gives, and inside its nmstate document, looked for
 * in whatever is valid by itself. `args` are those of DISK_VARIABLE.
 */
export function siteFaults(value: unknown, document: ConfigDocument, args: readonly string[]) {
  return [
    ...networkConfigFaults(value, document),
    ...proxyFaults(value, document),
    ...mirrorFaults(value, document),
    ...givenTwice(value, document, args),
  ];
}

function networkConfigFaults(value: unknown, document: ConfigDocument): Fault[] {
  const base = ['bootstrapInPlace', 'networkConfig'];
  const config = at(value, ...base);
  if (!isRecord(config)) return [];
  return nmstateMisfits(config).map(({ path, ofKey = false, expected, found, fix }): Fault => {
    const whole = [...base, ...path];
    return {
      position: document.positionOf(whole, ofKey ? 'key' : 'value'),
      field: jsonPath(whole),
      expected,
      found: found ?? foundText(valueAt(value, whole)),
      fix,
    };
  });
}

/** A proxy cannot be in a network that only the cluster's own containers reach. */
function proxyFaults(value: unknown, document: ConfigDocument): Fault[] {
  const networks = (['clusterNetwork', 'serviceNetwork'] as const).flatMap((list) =>
    networksIn(at(value, 'networking', list) ?? defaultNetworks(list, ['IPv4', 'IPv6'])),
  );
  return Object.entries(PROXY_SCHEMES).flatMap(([name, schemes]): Fault[] => {
    const path = ['proxy', name];
    const url = at(value, ...path);
    if (typeof url !== 'string' || proxyUrlProblem(url, schemes) !== undefined) return [];
    const address = new URL(url).hostname.replace(/^\[(.*)\]$/, '$1');
    const inside = isAddress(address)
      ? networks.find((network) => contains(network, address))
      : undefined;
    if (inside === undefined) return [];
    return [
      {
        position: document.positionOf(path),
        field: jsonPath(path),
        expected: `a proxy outside of the cluster's network ${networkText(inside)}`,
        found: `the address ${address}`,
        fix: 'Name a proxy that the host reaches, or choose other networks for the cluster.',
      },
    ];
  });
}

/** The sound ones of a list of networks, as texts or with `cidr` in each entry. */
function networksIn(list: unknown): Network[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((entry: unknown) => {
    const cidr = typeof entry === 'string' ? entry : at(entry, 'cidr');
    return (typeof cidr === 'string' ? usableNetwork(cidr) : undefined) ?? [];
  });
}

function mirrorFaults(value: unknown, document: ConfigDocument): Fault[] {
  const deprecated = 'imageContentSources';
  if ([deprecated, 'imageDigestSources'].some((name) => at(value, name) === undefined)) return [];
  return [
    {
      position: document.positionOf([deprecated], 'key'),
      field: deprecated,
      expected: 'either this field or imageDigestSources',
      found: 'both',
      fix: 'Move its entries to imageDigestSources, which means the same.',
    },
  ];
}

/** Fields whose arguments may stand in the variable instead. */
const IN_VARIABLE: readonly [string, readonly string[]][] = [
  ['kernelArguments', ['--append-karg']],
  ['savePartitions', ['--save-partlabel', '--save-partindex']],
];

function givenTwice(value: unknown, document: ConfigDocument, args: readonly string[]): Fault[] {
  return IN_VARIABLE.flatMap(([name, options]): Fault[] => {
    const path = ['bootstrapInPlace', name];
    const given = args
      .map((argument) => argument.split('=')[0] ?? '')
      .find((option) => options.includes(option));
    if (given === undefined || at(value, ...path) === undefined) return [];
    return [
      {
        position: document.positionOf(path),
        field: jsonPath(path),
        expected: 'one place for these arguments',
        found: `this field, and ${given} in ${DISK_VARIABLE}`,
        fix: 'Give them in one of the two.',
      },
    ];
  });
}

function valueAt(root: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (value, part) =>
      typeof value === 'object' && value !== null ? Reflect.get(value, part) : undefined,
    root,
  );
}
