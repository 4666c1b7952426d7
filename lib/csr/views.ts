import { networkInterfaces } from 'node:os';
import { readTextIfPresent } from '../host/files.ts';
import type { Node } from '../kube/resources.ts';
import { canonicalAddress } from '../network/address.ts';

/** What this host knows about itself, without asking the API. */
export interface HostView {
  /** The kernel's current host name. */
  readonly nodeName: string;
  /** The persistent name, from `/etc/hostname`. */
  readonly staticHostName: string;
  /** The node's addresses that the host has now. */
  readonly nodeIps: readonly string[];
  /** All addresses of the interfaces that have one of them. */
  readonly interfaceAddresses: readonly string[];
}

/** What the API reports about this host's node. */
export interface NodeView {
  readonly name: string;
  readonly internalIps: readonly string[];
}

export interface HostIdentity {
  /** The kernel's current host name, which is also the node's name. */
  readonly hostname: string;
  readonly nodeIps: readonly string[];
  /** Path of `/etc/hostname`. */
  readonly hostNameFile: string;
}

/** Reads the host's current view: names and addresses change while a host starts. */
export async function readHostView(identity: HostIdentity): Promise<HostView> {
  const { hostname, nodeIps, hostNameFile } = identity;
  return {
    nodeName: hostname,
    nodeIps,
    staticHostName: ((await readTextIfPresent(hostNameFile)) ?? '').trim(),
    interfaceAddresses: addressesBeside(nodeIps, Object.values(networkInterfaces())),
  };
}

interface InterfaceAddress {
  readonly address: string;
  readonly internal: boolean;
}

/** All addresses of the interfaces that have one of these; none for the loopback interface. */
export function addressesBeside(
  wanted: readonly string[],
  interfaces: readonly (readonly InterfaceAddress[] | undefined)[],
): string[] {
  const canonical = new Set(wanted.map(canonicalAddress));
  return interfaces
    .map((entries) => (entries ?? []).filter(({ internal }) => !internal))
    .map((entries) => entries.map((entry) => canonicalAddress(entry.address)))
    .filter((addresses) => addresses.some((address) => canonical.has(address)))
    .flat();
}

export function nodeView({ metadata, status }: Node): NodeView {
  const internal = (status?.addresses ?? []).filter(({ type }) => type === 'InternalIP');
  return {
    name: metadata.name,
    internalIps: internal.map(({ address }) => canonicalAddress(address)),
  };
}
