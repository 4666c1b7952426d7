import { BRIDGE } from '../../host/internal-bridge.ts';

/** Where NetworkManager keeps its profile (0600, or it is ignored). */
export const bridgeProfilePath = `/etc/NetworkManager/system-connections/${BRIDGE}.nmconnection`;

/** The prefix of the internal address: a network of its own. */
export const INTERNAL_PREFIX = 32;

/**
 * The profile of the bridge: no route, no name server, nothing that the site's network could contradict. An
 * address of IPv6 would stay tentative for ever on a bridge without carrier.
 */
export const bridgeProfile = (
  address: string,
): string => `# The address by which this node knows itself, at every site. Written by sno-agents.
[connection]
id=${BRIDGE}
type=bridge
interface-name=${BRIDGE}
autoconnect=true

[bridge]
stp=false

[ipv4]
method=manual
address1=${address}/${INTERNAL_PREFIX}
never-default=true

[ipv6]
method=disabled
`;
