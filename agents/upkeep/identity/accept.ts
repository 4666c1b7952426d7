import { Failure } from '../../../lib/base/errors/failure.ts';
import { canonicalAddress, familyOf, isAddress } from '../../../lib/base/network/address.ts';
import { nodeIpsSchema } from '../../../lib/base/network/node-ips.ts';
import { changeUnderWay } from '../../../lib/change/exclusion.ts';
import {
  differences,
  type Identity,
  machineNetworkFor,
} from '../../../lib/change/identity/identity.ts';
import { presentIdentity } from '../../../lib/change/identity/present-identity.ts';
import { identityChange } from '../../../lib/change/identity/request.ts';
import { resources } from '../../../lib/clients/kube/resources.ts';
import { readCluster } from '../../../lib/config/cluster/read-cluster.ts';
import { isBaseDomain, isClusterName, isUsableHostname } from '../../../lib/config/site/names.ts';
import { exists } from '../../../lib/host/files.ts';
import { hostAddresses } from '../../../lib/host/network.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { signedRights } from '../../steps/host-context.ts';
import { REQUEST_DEADLINE_MS } from '../../steps/request-deadline.ts';

/** What a person asks for; the rest stays as it is. */
export interface AskedIdentity {
  readonly hostname?: string;
  readonly address?: readonly string[];
  readonly clusterName?: string;
  readonly baseDomain?: string;
}

/**
 * Checks a change before anything is written.
 *
 * @throws Failure (usage) with everything that prevents it.
 */
export async function acceptedChange(
  paths: HostPaths,
  asked: AskedIdentity,
  signal: AbortSignal,
): Promise<{ readonly from: Identity; readonly to: Identity }> {
  const from = await presentIdentity(paths);
  const { faults, identity } = await wanted(from, asked, signal);
  const all = [
    ...[await changeUnderWay(paths, 'identity'), await otherUnderWay(paths)],
    ...[await notInstalled(paths), ...faults],
    faults.length === 0 ? await taken(paths, from, identity, signal) : undefined,
  ].filter((fault) => fault !== undefined);
  if (all.length === 0) return { from, to: identity };
  throw new Failure('usage', 'the identity cannot be changed so', {
    found: all.map(({ message }) => message).join('; '),
    parts: all,
  });
}

const fault = (what: string, found: string, fix?: string) =>
  new Failure('usage', what, { found, fix });

async function wanted(
  from: Identity,
  { hostname, address, clusterName, baseDomain }: AskedIdentity,
  signal: AbortSignal,
): Promise<{ faults: Failure[]; identity: Identity }> {
  const faults: Failure[] = [];
  if (hostname !== undefined && !isUsableHostname(hostname)) {
    faults.push(fault('--hostname is not the name of a host', hostname));
  }
  if (clusterName !== undefined && !isClusterName(clusterName)) {
    faults.push(fault('--cluster-name is not the name of a cluster', clusterName));
  }
  if (baseDomain !== undefined && !isBaseDomain(baseDomain)) {
    faults.push(fault('--base-domain is not a domain', baseDomain));
  }
  const nodeIps = address === undefined ? from.nodeIps : nodeIpsFrom(from, address);
  if (nodeIps === undefined) {
    faults.push(
      fault(
        `--address has to be given for each family of the cluster, in its order (${from.nodeIps.map(familyOf).join(', ')})`,
        address?.join(', ') ?? '',
      ),
    );
  }
  const kept = nodeIps ?? from.nodeIps;
  const machineNetwork =
    nodeIps === undefined || address === undefined
      ? from.machineNetwork
      : machineNetworkFor(from.machineNetwork, kept, await hostAddresses(signal));
  const identity = {
    hostname: hostname ?? from.hostname,
    nodeIps: kept,
    machineNetwork,
    clusterName: clusterName ?? from.clusterName,
    baseDomain: baseDomain ?? from.baseDomain,
  };
  if (faults.length === 0 && differences(from, identity).length === 0) {
    faults.push(
      fault(
        'nothing would change',
        `${from.hostname}, ${from.nodeIps.join(', ')}, ${from.clusterName}.${from.baseDomain}`,
      ),
    );
  }
  return { faults, identity };
}

/** Undefined unless it has one address of each family that the cluster has, in their order. */
function nodeIpsFrom({ nodeIps }: Identity, given: readonly string[]) {
  if (given.length !== nodeIps.length || !given.every(isAddress)) return undefined;
  const addresses = given.map(canonicalAddress);
  const isSameFamily = addresses.every((address, at) => {
    const before = nodeIps[at];
    return before !== undefined && familyOf(address) === familyOf(before);
  });
  return isSameFamily ? nodeIpsSchema.safeParse(addresses).data : undefined;
}

async function otherUnderWay(paths: HostPaths): Promise<Failure | undefined> {
  const request = await identityChange.read(paths);
  return request === undefined
    ? undefined
    : fault(
        'another change is under way',
        differences(request.from, request.to).join('; '),
        'Wait for its end: see "sno-identity status".',
      );
}

async function notInstalled(paths: HostPaths): Promise<Failure | undefined> {
  if (await exists(paths.record)) return undefined;
  return new Failure('usage', 'the installation is not complete', { fix: 'Wait for its end.' });
}

/** An API server that does not answer is no reason to keep a wrong address. */
async function taken(
  paths: HostPaths,
  from: Identity,
  to: Identity,
  signal: AbortSignal,
): Promise<Failure | undefined> {
  if (from.hostname === to.hostname) return undefined;
  const { withAdministrator } = signedRights({ paths, cluster: await readCluster(paths) });
  const remaining = { remainingMs: () => REQUEST_DEADLINE_MS };
  const limits = { signal, deadlineMs: REQUEST_DEADLINE_MS };
  const other = await withAdministrator(remaining, (client) =>
    client.find(resources.nodes, { name: to.hostname }, limits),
  ).catch(() => undefined);
  return other === undefined
    ? undefined
    : fault(
        `the cluster has a Node ${to.hostname}`,
        'a worker, or one that is gone',
        'Delete it, or choose another name.',
      );
}
