import { hostname, networkInterfaces } from 'node:os';
import { readTextIfPresent } from '../host/files.ts';
import type { Node } from '../kube/resources.ts';
import { canonicalAddress } from './requested-certificate.ts';

/** What this host knows of itself, without asking the API. */
export interface HostView {
  readonly nodeName: string;
  /** What `/etc/hostname` says: the name that stays. */
  readonly staticHostName: string;
  /** What the kernel says now. */
  readonly runningHostName: string;
  readonly nodeIp: string;
  /** Addresses of the interface that has the node's IP; empty when none has it. */
  readonly interfaceAddresses: readonly string[];
}

/** What the API says of this host's node. */
export interface NodeView {
  readonly name: string;
  readonly internalIps: readonly string[];
}

export interface HostIdentity {
  readonly nodeName: string;
  readonly nodeIp: string;
  /** Path of `/etc/hostname`. */
  readonly hostNameFile: string;
}

/** Reads the host's view anew: names and addresses change while a host comes up. */
export async function readHostView(identity: HostIdentity): Promise<HostView> {
  const { nodeName, nodeIp, hostNameFile } = identity;
  return {
    nodeName,
    nodeIp,
    staticHostName: ((await readTextIfPresent(hostNameFile)) ?? '').trim(),
    runningHostName: hostname(),
    interfaceAddresses: addressesBeside(nodeIp, Object.values(networkInterfaces())),
  };
}

interface InterfaceAddress {
  readonly address: string;
  readonly internal: boolean;
}

/** All addresses of the interface that has this one; the loopback interface counts as none. */
export function addressesBeside(
  address: string,
  interfaces: readonly (readonly InterfaceAddress[] | undefined)[],
): string[] {
  const wanted = canonicalAddress(address);
  const own = interfaces
    .map((entries) => (entries ?? []).filter(({ internal }) => !internal))
    .map((entries) => entries.map((entry) => canonicalAddress(entry.address)))
    .find((addresses) => addresses.includes(wanted));
  return own ?? [];
}

export function nodeView({ metadata, status }: Node): NodeView {
  const internal = (status?.addresses ?? []).filter(({ type }) => type === 'InternalIP');
  return {
    name: metadata.name,
    internalIps: internal.map(({ address }) => canonicalAddress(address)),
  };
}
