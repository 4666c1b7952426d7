import { networkInterfaces } from 'node:os';
import { readTextIfPresent } from '../../host/files.ts';
import { addressesOf, fingerprintOf, type HostView } from './views.ts';

export interface HostIdentity {
  /** The node's name: the kernel's current host name, unless another one is pinned. */
  readonly hostname: string;
  /** The name that the kubelet is started with (`--hostname-override`); its node does not follow the host's. */
  readonly pinnedName?: string;
  /** Addresses of the host on interfaces without a carrier, which Node leaves out. */
  readonly withoutCarrier?: readonly string[];
  /** The addresses that the kubelet registers, in canonical form. */
  readonly registeredIps: readonly string[];
  /** Path of `/etc/hostname`. */
  readonly hostNameFile: string;
  /** Path of the kubelet's client certificate. */
  readonly clientCertificateFile: string;
}

/** Reads the host's current view: names and addresses change while a host starts. */
export async function readHostView(identity: HostIdentity): Promise<HostView> {
  const { hostname, pinnedName, registeredIps, hostNameFile, clientCertificateFile } = identity;
  const { withoutCarrier = [] } = identity;
  const [staticHostName = '', clientCertificate] = await Promise.all([
    pinnedName ?? readTextIfPresent(hostNameFile),
    readTextIfPresent(clientCertificateFile),
  ]);
  const present = new Set([...addressesOf(Object.values(networkInterfaces())), ...withoutCarrier]);
  return {
    nodeName: hostname,
    nodeIps: registeredIps.filter((address) => present.has(address)),
    staticHostName: staticHostName.trim(),
    clientCertificate: fingerprintOf(clientCertificate),
  };
}
