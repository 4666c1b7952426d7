import { randomUUID } from 'node:crypto';
import {
  type AddressVerdict,
  insideNetworks,
  judgeAddresses,
} from '../../../lib/change/identity/moved-address.ts';
import { presentIdentity } from '../../../lib/change/identity/present-identity.ts';
import { identityChange } from '../../../lib/change/identity/request.ts';
import { hostAddresses } from '../../../lib/host/network.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { type PlainHost, plainHost } from '../../steps/host-context.ts';
import { readState } from './state.ts';

/** The host, and an id of this run: what an earlier run has seen is looked at again. */
export interface AddressContext extends PlainHost {
  readonly run: string;
}

/** @throws Failure (usage) if cluster.json is invalid. */
export async function addressContext(paths: HostPaths): Promise<AddressContext> {
  return { ...(await plainHost(paths)), run: randomUUID() };
}

/**
 * Compares the host with the addresses that its Node has, or gets by a change that is under way.
 *
 * @throws Failure (usage) on a host that cannot have another identity
 */
export async function judgeHost(
  { paths, cluster }: Pick<AddressContext, 'paths' | 'cluster'>,
  signal: AbortSignal,
): Promise<AddressVerdict> {
  const identity = (await identityChange.read(paths))?.to ?? (await presentIdentity(paths));
  const { interfaces } = await readState(paths);
  const known = { identity, interfaces, inside: insideNetworks(cluster) };
  return judgeAddresses(known, await hostAddresses(signal));
}
