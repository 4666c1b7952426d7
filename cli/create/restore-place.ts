import { Failure } from '../../lib/base/errors/failure.ts';
import { isRecord } from '../../lib/base/json.ts';
import { networkText, parseNetwork } from '../../lib/base/network/network.ts';
import {
  clusterFor,
  type IdentifiedInput,
  identityOf,
} from '../../lib/change/identity/identity.ts';
import { clusterDomain } from '../../lib/config/cluster/cluster.ts';
import { readDocument } from '../../lib/config/file/document.ts';
import { faultText } from '../../lib/config/file/fault.ts';
import { misfitFault } from '../../lib/config/file/misfit-fault.ts';
import { withoutNulls } from '../../lib/config/file/site-fields.ts';
import { hostAddressMisfits } from '../../lib/config/site/addresses/judge.ts';
import { clusterNetworks } from '../../lib/config/site/addresses/own-networks.ts';
import { hostnameProblem, isUsableHostname } from '../../lib/config/site/names.ts';
import { nmstateMisfits } from '../../lib/config/site/nmstate/document.ts';
import { nmstateText } from '../../lib/config/site/nmstate/text.ts';
import { askNmstatectl } from '../nmstate/ask-nmstatectl.ts';
import { readConfigText } from './read-install-config.ts';

/** What differs at the other host; the rest is as the lost one was installed. */
export interface PlaceOptions {
  hostname?: string;
  /** CIDRs, one for each family of the cluster. */
  machineNetwork?: readonly string[];
  /** A file with an nmstate document. */
  networkConfig?: string;
  /** The addresses come from DHCP, whatever the lost host had. */
  dhcp?: boolean;
}

/**
 * The cluster of a lost host for another one: its cluster.json without a disk to write.
 * @throws Failure (usage) that names every fault of the options
 */
export async function clusterElsewhere(
  input: IdentifiedInput,
  options: PlaceOptions,
  signal: AbortSignal,
) {
  const faults: string[] = [];
  const { dhcp = false, networkConfig } = options;
  // Its present name: it may have been changed since the installation.
  const lost = input.cluster.hostname === undefined ? undefined : input.host.hostname;
  const hostname = options.hostname ?? lost;
  if (hostname !== undefined && !isUsableHostname(hostname)) {
    faults.push(`--hostname: expected the name of a host, found ${JSON.stringify(hostname)}`);
  }
  const own = options.hostname && hostnameProblem(options.hostname, clusterDomain(input.cluster));
  if (own) faults.push(`--hostname: expected ${own.expected}, found ${own.found}. ${own.fix}`);
  if (dhcp && networkConfig !== undefined) {
    faults.push('--dhcp and --network-config exclude each other: use one of them');
  }
  const machineNetwork = networksFor(input, options.machineNetwork, faults);
  const network =
    networkConfig === undefined || dhcp
      ? undefined
      : await readNetworkConfig(networkConfig, machineNetwork, input.cluster, faults);
  if (faults.length > 0) throw new Failure('usage', faults.join('\n'));
  await askNmstatectl(network, networkConfig ?? '', signal);
  const identity = { ...identityOf(input), machineNetwork };
  const { installation: _, ...cluster } = clusterFor(input.cluster, identity);
  return {
    ...cluster,
    ...(hostname === undefined ? {} : { hostname }),
    networkConfig: dhcp ? undefined : (network ?? cluster.networkConfig),
  };
}

/** The Services and the pods of the cluster have its families, and keep them. */
function networksFor(
  { cluster }: IdentifiedInput,
  given: readonly string[] | undefined,
  faults: string[],
): string[] {
  if (given === undefined) return cluster.machineNetwork;
  const networks = given.map(parseNetwork);
  const families = cluster.serviceNetwork.map((cidr) => parseNetwork(cidr)?.family);
  const fit =
    networks.length === families.length &&
    networks.every((network, at) => network !== undefined && network.family === families[at]);
  if (!fit) {
    faults.push(
      `--machine-network: expected one CIDR for each family of the cluster, in its order (${families.join(', ')}), found ${given.join(', ')}`,
    );
  }
  return networks.flatMap((network) => (network === undefined ? [] : [networkText(network)]));
}

async function readNetworkConfig(
  path: string,
  networks: readonly string[],
  { clusterNetwork, serviceNetwork }: IdentifiedInput['cluster'],
  faults: string[],
): Promise<string | undefined> {
  const document = readDocument(await readConfigText(path, '--network-config'));
  const { value } = document;
  const own = clusterNetworks(
    clusterNetwork.map(({ cidr }) => cidr),
    serviceNetwork,
  );
  const machine = { networks, field: '--machine-network', isDefault: false };
  const found = isRecord(value)
    ? networkMisfits(withoutNulls(value), machine, own).map((each) => misfitFault(each, document))
    : document.faults;
  faults.push(...found.map((fault) => faultText(fault, path)));
  if (!isRecord(value) && found.length === 0) faults.push(`${path}: expected an nmstate document`);
  return isRecord(value) ? nmstateText(withoutNulls(value)) : undefined;
}

function networkMisfits(
  document: Record<string, unknown>,
  machine: Parameters<typeof hostAddressMisfits>[1],
  own: Parameters<typeof hostAddressMisfits>[2],
) {
  const structure = nmstateMisfits(document, '--hostname');
  return structure.length > 0 ? structure : hostAddressMisfits(document, machine, own);
}
