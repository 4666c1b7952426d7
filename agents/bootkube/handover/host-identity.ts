import { dirname } from 'node:path';
import { dhcpIdentity } from '../../../lib/cluster/installation/dhcp-identity.ts';
import { readTextIfPresent } from '../../../lib/host/files.ts';
import type { IgnitionConfig } from '../../../lib/render/ignition/config.ts';
import { configOf, directory, file } from '../../../lib/render/ignition/entries.ts';
import type { HostContext } from '../../steps/host-context.ts';

/**
 * Where NetworkManager keeps global name servers. nmstate writes static ones there
 * (nm/query_apply/dns.rs); only since 2.2.46 they are in the profiles too, and even then not
 * if there are three of both families. coreos-installer's --copy-network copies only
 * profiles.
 */
const GLOBAL_DNS = '/var/lib/NetworkManager/NetworkManager-intern.conf';

/**
 * What must survive the reboot unchanged, whatever the master Ignition says: the host name, the
 * DHCP identity, and the name servers of a networkConfig.
 */
export async function hostIdentity({
  cluster,
  paths,
  hostname,
}: HostContext): Promise<IgnitionConfig> {
  const nameServers =
    cluster.networkConfig === undefined ? undefined : await readTextIfPresent(paths.at(GLOBAL_DNS));
  return configOf({
    directories: nameServers === undefined ? [] : [directory(dirname(GLOBAL_DNS), 0o700)],
    files: [
      file('/etc/hostname', 0o644, `${hostname()}\n`),
      file(dhcpIdentity.path, 0o644, dhcpIdentity.contents),
      ...(nameServers === undefined ? [] : [file(GLOBAL_DNS, 0o644, nameServers)]),
    ],
  });
}
