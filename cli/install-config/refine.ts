import { isAddress } from '../../lib/base/network/address.ts';
import { contains, networkText, parseNetwork } from '../../lib/base/network/network.ts';
import type { ConfigDocument } from '../../lib/config/file/document.ts';
import { type Fault, foundText } from '../../lib/config/file/fault.ts';
import { misfitFault } from '../../lib/config/file/misfit-fault.ts';
import { valueAt } from '../../lib/config/file/schema-faults.ts';
import { hostAddressMisfits } from '../../lib/config/site/addresses/judge.ts';
import {
  clusterNetworks,
  insideFaults,
  noServerFaults,
} from '../../lib/config/site/addresses/own-networks.ts';
import {
  clusterDomainProblem,
  hostnameProblem,
  withoutFinalDot,
} from '../../lib/config/site/names.ts';
import {
  defaultNetworks,
  type NetworkList,
  networksOf,
} from '../../lib/config/site/network-defaults.ts';
import { nmstateMisfits } from '../../lib/config/site/nmstate/document.ts';
import { DISK_VARIABLE, type DiskArguments } from './disk-variable.ts';
import { networkRefinements } from './refine-networks.ts';
import { ofOwnDisk } from './refine-own-disk.ts';
import type { Config, Refinement } from './refinement.ts';
import type { SomeInstallFields } from './schema.ts';

/**
 * Faults between fields that are valid by themselves. Checked whether or not other
 * fields are valid, so that all faults are reported together.
 */
export function refine(
  sound: SomeInstallFields,
  document: ConfigDocument,
  variable: DiskArguments | undefined,
  writesDisk: boolean,
): Fault[] {
  const isGiven: Config['isGiven'] = (path) => {
    const value = valueAt(document.value, path);
    return value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0);
  };
  const config: Config = { sound, isGiven, writesDisk, variable };
  return [
    ...networkRefinements(config),
    ...ofArchitecture(config),
    ...ofNames(config),
    ...ofNetworkConfig(config),
    ...ofProxy(config),
    ...ofServers(config),
    ...ofMirrors(config),
    ...givenTwice(config),
    ...ofDisk(config),
    ...ofOwnDisk(config),
    ...ofRelocation(config),
  ].map((misfit) => misfitFault(misfit, document));
}

/** One payload serves one architecture: that of all hosts. */
function ofArchitecture({ sound }: Config): Refinement[] {
  const node = sound.controlPlane?.architecture || 'amd64';
  const workers = sound.compute?.[0]?.architecture || node;
  if (sound.controlPlane === undefined || workers === node) return [];
  const expected = `${node}, as for the control plane`;
  const path = ['compute', 0, 'architecture'];
  return [{ path, expected, fix: 'Set the same architecture for both pools.' }];
}

function ofNames({ sound }: Config): Refinement[] {
  const { metadata, baseDomain, bootstrapInPlace } = sound;
  if (metadata === undefined || baseDomain === undefined) return [];
  const domain = `${metadata.name}.${withoutFinalDot(baseDomain)}`;
  const hostname = bootstrapInPlace?.hostname;
  const ofDomain = clusterDomainProblem(domain);
  const ofHost = hostname === undefined ? undefined : hostnameProblem(hostname, domain);
  return [
    ...(ofDomain === undefined ? [] : [{ path: ['baseDomain'], ...ofDomain }]),
    ...(ofHost === undefined ? [] : [{ path: ['bootstrapInPlace', 'hostname'], ...ofHost }]),
  ];
}

function ofNetworkConfig(config: Config): Refinement[] {
  const { sound } = config;
  const networkConfig = sound.bootstrapInPlace?.networkConfig;
  if (networkConfig === undefined) return [];
  const { machine, own } = networksOfConfig(config);
  const structure = nmstateMisfits(networkConfig, 'bootstrapInPlace.hostname');
  const misfits =
    structure.length > 0 ? structure : hostAddressMisfits(networkConfig, machine, own);
  return misfits.map((misfit) => ({
    ...misfit,
    path: ['bootstrapInPlace', 'networkConfig', ...misfit.path],
  }));
}

/** Those of the cluster, with defaults; a list with a fault is not known. */
function networksOfConfig({ sound, isGiven }: Config) {
  const networking: Partial<NonNullable<typeof sound.networking>> = sound.networking ?? {};
  const networks = networksOf(networking);
  const isKnown = (list: NetworkList) =>
    networking[list] !== undefined || !isGiven(['networking', list]);
  const pods = isKnown('clusterNetwork') ? networks.clusterNetwork.map(({ cidr }) => cidr) : [];
  const services = isKnown('serviceNetwork') ? networks.serviceNetwork : [];
  const field = 'networking.machineNetwork';
  const machine = {
    networks: networks.machineNetwork,
    field,
    isDefault: !isGiven(['networking', 'machineNetwork']),
  };
  return {
    machine: isKnown('machineNetwork') ? machine : undefined,
    own: clusterNetworks(pods, services),
  };
}

/**
 * Workers know the node by its address, and a way back from a site needs keys that are not sealed.
 */
function ofRelocation({ sound }: Config): Refinement[] {
  if (sound.bootstrapInPlace?.relocatable !== true) return [];
  const path = ['bootstrapInPlace', 'relocatable'];
  const workers = sound.compute?.[0]?.replicas ?? 0;
  return [
    ...(workers > 0
      ? [
          {
            path,
            expected: 'false for a cluster with workers',
            fix: 'Set replicas of compute to 0.',
          },
        ]
      : []),
    ...((sound.bootstrapInPlace.sealSecrets ?? 'none') === 'none'
      ? []
      : [
          {
            path: ['bootstrapInPlace', 'sealSecrets'],
            expected: 'none for a relocatable node, which refuses every site otherwise',
            fix: 'Leave sealSecrets out, or relocatable.',
          },
        ]),
  ];
}

/** A proxy cannot be in a network that only the cluster's own containers can reach. */
function ofProxy({ sound, isGiven }: Config): Refinement[] {
  const { clusterNetwork, serviceNetwork } = sound.networking ?? {};
  const given = [...(clusterNetwork ?? []).map(({ cidr }) => cidr), ...(serviceNetwork ?? [])];
  const byDefault = (['clusterNetwork', 'serviceNetwork'] as const)
    .filter((list) => !isGiven(['networking', list]))
    .flatMap((list) => defaultNetworks(list, ['IPv4', 'IPv6']));
  const networks = [...given, ...byDefault].flatMap((cidr) => parseNetwork(cidr) ?? []);
  const { httpProxy = '', httpsProxy = '' } = sound.proxy ?? {};
  return Object.entries({ httpProxy, httpsProxy }).flatMap(([name, url]): Refinement[] => {
    if (url === '') return [];
    const address = proxyHost(url);
    const inside = isAddress(address)
      ? networks.find((network) => contains(network, address))
      : undefined;
    if (inside === undefined) return [];
    return [
      {
        path: ['proxy', name],
        expected: `a proxy outside of the cluster's network ${networkText(inside)}`,
        found: `the address ${address}`,
        fix: 'Use a proxy that the host can reach, or choose other networks for the cluster.',
      },
    ];
  });
}

/** Servers outside of the host, as far as they are addresses. */
function ofServers(config: Config): Refinement[] {
  const { httpProxy = '', httpsProxy = '' } = config.sound.proxy ?? {};
  const sources = config.sound.bootstrapInPlace?.additionalNTPSources ?? [];
  const clocks = sources.map((text, index) => ({
    path: ['bootstrapInPlace', 'additionalNTPSources', index],
    text,
  }));
  const proxies = Object.entries({ httpProxy, httpsProxy }).map(([name, url]) => ({
    path: ['proxy', name],
    text: proxyHost(url),
  }));
  return [
    ...noServerFaults([...clocks, ...proxies], config.sound.bootstrapInPlace?.networkConfig ?? {}),
    ...insideFaults(clocks, networksOfConfig(config).own),
  ];
}

const proxyHost = (url: string): string =>
  URL.canParse(url) ? new URL(url).hostname.replace(/^\[(.*)\]$/, '$1') : '';

function ofMirrors({ isGiven }: Config): Refinement[] {
  const path = ['imageContentSources'];
  if (!isGiven(path) || !isGiven(['imageDigestSources'])) return [];
  const fix = 'Move its entries to imageDigestSources, which means the same.';
  const expected = 'either this field or imageDigestSources';
  return [{ path, ofKey: true, expected, found: 'both', fix }];
}

/** Fields whose arguments can be in the variable instead. */
const IN_VARIABLE: readonly [string, readonly string[]][] = [
  ['kernelArguments', ['--append-karg']],
  ['savePartitions', ['--save-partlabel', '--save-partindex']],
];

function givenTwice({ isGiven, variable }: Config): Refinement[] {
  return IN_VARIABLE.flatMap(([name, options]): Refinement[] => {
    const path = ['bootstrapInPlace', name];
    const given = variable?.rest
      .map((argument) => argument.split('=')[0] ?? '')
      .find((option) => options.includes(option));
    if (given === undefined || !isGiven(path)) return [];
    const found = `this field, and ${given} in ${DISK_VARIABLE}`;
    const fix = 'Set them in one of the two.';
    return [{ path, expected: 'one place for these arguments', found, fix }];
  });
}

function ofDisk({ sound, isGiven, writesDisk, variable }: Config): Refinement[] {
  const path = ['bootstrapInPlace', 'installationDisk'];
  const inFile = sound.bootstrapInPlace?.installationDisk;
  const inVariable = variable?.disk;
  if (writesDisk && !isGiven(path) && inVariable === undefined && variable !== undefined) {
    const fix = `Set the disk to install to, here or in ${DISK_VARIABLE}. An all-in-one host has none: "sno create aio-ignition", "sno verify install-config --aio".`;
    return [{ path, expected: 'the path of a disk below /dev', found: 'nothing', fix }];
  }
  if (inFile === undefined || inVariable === undefined || inFile === inVariable) return [];
  const found = `${foundText(inFile)} here and ${JSON.stringify(inVariable)} in ${DISK_VARIABLE}`;
  return [{ path, expected: 'one disk', found, fix: 'Set it in one of the two places.' }];
}
