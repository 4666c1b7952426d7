import { firstOfEach, type Misfit } from '../nmstate/misfit.ts';
import { addressFaults, type MachineNetworks } from './addresses.ts';
import { gatewayFaults } from './gateways.ts';
import {
  insideFaults,
  nameServersIn,
  networksIn,
  noServerFaults,
  type Own,
  overlapFaults,
  serversIn,
} from './own-networks.ts';
import { addressPlan } from './plan.ts';

/**
 * What is wrong with the addresses of a host, by its nmstate document alone: the one judge of install-config.yaml,
 * site-config.yaml and `sno create restore-ignition`. Paths are relative to the document; its structure is judged by
 * nmstateMisfits, and has to be sound.
 *
 * @param machine where the node's address is to be; undefined if that is not known
 */
export function addressMisfits(
  document: Record<string, unknown>,
  machine: MachineNetworks | undefined,
): Misfit[] {
  const plan = addressPlan(document);
  return [
    ...addressFaults(plan, machine),
    ...gatewayFaults(plan),
    ...noServerFaults(nameServersIn(document), document),
  ];
}

/** The same for a host whose cluster is known: nothing of it is in one of the cluster's own networks. */
export function hostAddressMisfits(
  document: Record<string, unknown>,
  machine: MachineNetworks | undefined,
  own: readonly Own[],
): Misfit[] {
  return firstOfEach([
    ...overlapFaults(networksIn(document, own), own),
    ...insideFaults(serversIn(document), own),
    ...addressMisfits(document, machine),
  ]);
}
