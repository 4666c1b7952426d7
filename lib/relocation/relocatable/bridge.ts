import { familyOf } from '../../base/network/address.ts';
import { BRIDGE } from '../../host/internal-bridge.ts';

/** Where NetworkManager keeps its profile (0600, or it is ignored). */
export const bridgeProfilePath = `/etc/NetworkManager/system-connections/${BRIDGE}.nmconnection`;

/** What NetworkManager runs before it says that the bridge is up; only with an address of IPv6. */
export const bridgeScriptPath = '/etc/NetworkManager/dispatcher.d/pre-up.d/50-sno-internal-address';

/** The prefix of an internal address of IPv4: a network of its own. */
export const INTERNAL_PREFIX = 32;
const INTERNAL_PREFIX_IPV6 = 128;

/** Its files on the host, with their modes: the addresses are one, or one of each family. */
export function bridgeFiles(addresses: readonly string[]) {
  const ipv6 = addresses.find((address) => familyOf(address) === 'IPv6');
  const profile = {
    path: bridgeProfilePath,
    mode: 0o600,
    contents: bridgeProfile(...addresses),
  };
  if (ipv6 === undefined) return [profile];
  return [{ path: bridgeScriptPath, mode: 0o755, contents: bridgeScript(ipv6) }, profile];
}

/**
 * The profile of the bridge: no route, no name server, nothing that the site's network could contradict. NetworkManager
 * leaves IPv6 to the script where the bridge has an address of it.
 */
export function bridgeProfile(...addresses: readonly string[]): string {
  const ipv4 = addresses.find((address) => familyOf(address) === 'IPv4');
  const hasIpv6 = addresses.some((address) => familyOf(address) === 'IPv6');
  return `# The address by which this node knows itself, at every site. Written by sno-agents.
[connection]
id=${BRIDGE}
type=bridge
interface-name=${BRIDGE}
autoconnect=true

[bridge]
stp=false

[ipv4]
${ipv4 === undefined ? 'method=disabled' : `method=manual\naddress1=${ipv4}/${INTERNAL_PREFIX}\nnever-default=true`}

[ipv6]
method=${hasIpv6 ? 'ignore' : 'disabled'}
`;
}

/**
 * NetworkManager cannot say that an address is not to be checked (`nodad`), and waits for the end of a check that never begins
 * on a bridge without a carrier: the address would stay tentative.
 */
const bridgeScript = (address: string): string => `#!/bin/sh
# The address of IPv6 by which this node knows itself, at every site. Written by sno-agents.
[ "$1" = ${BRIDGE} ] && [ "$2" = pre-up ] || exit 0
exec ip -6 address replace ${address}/${INTERNAL_PREFIX_IPV6} dev ${BRIDGE} nodad
`;
