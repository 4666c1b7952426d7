import type { HostAddress } from '../../../lib/host/network.ts';
import { bad, type Check, good } from './check.ts';

const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** The name of a Node cannot be changed later, so the host must already have its final name. */
export const hostnameCheck: Check = {
  name: 'hostname',
  code: 'preflight-hostname',
  run: async ({ hostname, cluster }) => {
    const fix =
      'Set bootstrapInPlace.hostname in install-config.yaml, or provide the name by DHCP or DNS.';
    if (hostname === '' || /^localhost(\.|$)/.test(hostname)) {
      return bad(`the host's name is "${hostname}", which is not final`, fix);
    }
    if (hostname.length > 253 || !hostname.split('.').every((label) => LABEL.test(label))) {
      return bad(
        `the host's name "${hostname}" is not a valid Node name (RFC 1123, lower case)`,
        fix,
      );
    }
    if (cluster.hostname !== undefined && cluster.hostname !== hostname) {
      return bad(`the host's name is "${hostname}", not "${cluster.hostname}" as configured`, fix);
    }
    return good(`the host's name is ${hostname}`);
  },
};

/** The addresses are used in certificates and in the Node; they must stay the same after the reboot. */
export const addressCheck: Check = {
  name: 'address',
  code: 'preflight-address',
  run: async ({ addresses, cluster }) => {
    const networks = cluster.machineNetwork.join(', ');
    const missing = addresses.find(({ address }) => address === undefined);
    if (missing !== undefined) {
      return bad(
        `no ${missing.family} address of this host is in the machine network ${networks}`,
        'Correct networking.machineNetwork, or the network configuration of the host.',
      );
    }
    const ambiguous = addresses.find(({ rivals }) => rivals.length > 0);
    if (ambiguous?.address !== undefined) {
      const all = [ambiguous.address, ...ambiguous.rivals].map(({ address }) => address).join(', ');
      return bad(
        `several addresses of this host are in the machine network ${networks}: ${all}`,
        'Narrow networking.machineNetwork so that it contains one address of each family.',
      );
    }
    return good(
      addresses
        .flatMap(({ address }) => (address === undefined ? [] : [describe(address)]))
        .join('; '),
    );
  },
};

function describe({ address, interfaceName, leaseSeconds }: HostAddress): string {
  return leaseSeconds === undefined
    ? `the address ${address} on ${interfaceName} is configured`
    : `the address ${address} on ${interfaceName} is a DHCP lease, and must stay reserved for this host`;
}
