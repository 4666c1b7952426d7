import { quickly } from '../host/command.ts';
import { teardownSignal } from '../host/mount.ts';
import { BRIDGE, type HostIdentity, portOf } from '../host/network.ts';
import type { Teardown } from '../host/teardown.ts';

/** Creates the port of a machine in its bridge and returns its name; qemu is the other end of the cable. */
export async function plugTap(
  host: HostIdentity,
  teardown: Teardown,
  signal: AbortSignal,
): Promise<string> {
  const port = portOf(host);
  await quickly('ip', ['tuntap', 'add', 'dev', port, 'mode', 'tap'], signal);
  teardown.add(`unplug ${host.name}`, async () => {
    await quickly('ip', ['link', 'delete', port], teardownSignal());
  });
  await quickly('ip', ['link', 'set', port, 'master', host.bridge ?? BRIDGE, 'up'], signal);
  return port;
}
