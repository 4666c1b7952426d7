import { join } from 'node:path';
import { describeError, Failure } from '../../../lib/base/errors/failure.ts';
import type { Progress } from '../../../lib/engine/steps/progress.ts';
import { run } from '../../../lib/host/command.ts';
import { removeFile } from '../../../lib/host/files.ts';
import { hostAddresses } from '../../../lib/host/network.ts';
import { runOutsideSandbox } from '../../../lib/host/outside-sandbox.ts';
import { stopUnit } from '../../../lib/host/systemd.ts';
import type { ReconfigureContext } from '../context.ts';
import { BRIDGE_UNITS } from './units.ts';

/** OVN-Kubernetes takes the addresses of its node from it. */
export const OVN_BRIDGE = 'br-ex';

/** The profiles of configure-ovs.sh, all below /run: the bridge, its ports, their interfaces, and clones of a bond's ports. */
const OWN_PROFILE = /^(br-ex|ovs-(port|if)-(br-ex|phys0)|.+-slave-ovs-clone)$/;

/** The mark of its first run in this boot: without it, it begins anew. */
const BOOT_DONE = '/run/configure-ovs-boot-done';
/** Which address is the host's. While the first exists, nodeip-configuration leaves all as they are. */
const CHOSEN_ADDRESSES = ['primary-ip', 'ipv4', 'ipv6'].map((name) =>
  join('/run/nodeip-configuration', name),
);

const PROGRAM_MS = 60_000;
/**
 * For each of the two units, which on their own wait for ever. A successful run of configure-ovs.sh takes up to two minutes: ten
 * seconds and a minute for the adapter, a minute for a default route, the same for the bridge.
 */
const UNIT_MS = 150_000;

/** The addresses of the bridge at the site: without the internal one. */
export async function bridgeAddresses(
  { request }: Pick<ReconfigureContext, 'request'>,
  signal: AbortSignal,
): Promise<string[]> {
  const internal: readonly string[] = request.from.nodeIps;
  return (await hostAddresses(signal))
    .filter(({ interfaceName }) => interfaceName === OVN_BRIDGE)
    .map(({ address }) => address)
    .filter((address) => !internal.includes(address));
}

/** Removes the adapter from the bridge, and then the bridge. Not an error if either does not exist. */
export async function dismantleBridge({ signal }: Pick<Progress, 'signal'>): Promise<void> {
  const limits = { signal, deadlineMs: PROGRAM_MS };
  for (const { uuid, name } of await profiles(signal)) {
    if (!OWN_PROFILE.test(name)) continue;
    await run('nmcli', ['--wait', '30', 'connection', 'delete', 'uuid', uuid], limits);
  }
  // What NetworkManager has not made of its profiles, such as after a restart of Open vSwitch.
  const remove = ['--timeout=30', '--if-exists', 'del-br', OVN_BRIDGE];
  await runOutsideSandbox('ovs-vsctl', remove, limits);
}

/** Of NetworkManager, whoever made them. */
export async function profiles(
  signal: AbortSignal,
): Promise<{ readonly uuid: string; readonly name: string }[]> {
  const list = ['--terse', '--escape', 'no', '--fields', 'UUID,NAME', 'connection', 'show'];
  const text = await run('nmcli', list, { signal, deadlineMs: PROGRAM_MS });
  return text.split('\n').flatMap((line) => {
    const [uuid = '', ...name] = line.split(':');
    return uuid === '' ? [] : [{ uuid, name: name.join(':') }];
  });
}

/**
 * Has the bridge made of the adapter that has the default route now.
 *
 * @throws Failure (fatal, site-network) if it is not made in time, or gets no address
 */
export async function makeBridge(context: ReconfigureContext, progress: Progress): Promise<void> {
  const { paths } = context;
  for (const path of [...CHOSEN_ADDRESSES, BOOT_DONE]) await removeFile(paths.at(path));
  for (const unit of BRIDGE_UNITS) {
    const limits = { signal: progress.signal, deadlineMs: UNIT_MS };
    await progress.wait(`${unit} to end`, () =>
      run('systemctl', ['restart', unit], limits).catch((cause: unknown) => ended(unit, cause)),
    );
  }
  if ((await bridgeAddresses(context, progress.signal)).length > 0) return;
  throw failed('br-ex has no address of the site');
}

/** Otherwise it would continue on its own while the host goes back. */
async function ended(unit: string, cause: unknown): Promise<never> {
  const signal = AbortSignal.timeout(PROGRAM_MS);
  await stopUnit(unit, signal).catch(() => undefined);
  throw failed(`${unit}: ${describeError(cause)}`, cause);
}

const failed = (found: string, cause?: unknown): Failure =>
  new Failure('fatal', "the pod network's bridge cannot be made of the site's network", {
    code: 'site-network',
    expected: 'an address and a default route of the site on one adapter',
    found,
    fix: 'Name the gateway of the site in raw_nm_state_config (routes), or check its DHCP server.',
    ...(cause === undefined ? {} : { cause, tellsCause: true }),
  });
