import { isDeepStrictEqual } from 'node:util';
import { demandedOf, meetAll, type TroublesOf } from '../../faults/troubles.ts';
import { scenarioOf } from '../../installation.ts';
import type { MediumKind } from '../../relocate/volume.ts';
import { relocatableHost } from '../../relocation.ts';
import type { Scenario } from '../../scenario.ts';
import { bridgeOverBond } from './bridge-over-bond.ts';
import { hostNameAt, MediaNode } from './media-node.ts';
import { shown } from './row.ts';
import { requireEnforced } from './selinux.ts';
import { sitePowerCuts } from './site-power-cut.ts';

const STICK = 'site-stick';

type Act = () => Promise<void>;

/**
 * Alone: a volume that is still in the drive would be a second one, and both would be refused. It is pulled, whatever comes
 * of what `during` inserts it for: the next one needs its socket.
 */
async function withStick(
  { devices }: MediaNode,
  image: string,
  during: (plug: Act) => Promise<void>,
): Promise<void> {
  await devices.ejectCd();
  try {
    await during(() => devices.plugStick(STICK, image));
  } catch (error) {
    await devices.pullStick(STICK).catch(() => undefined);
    throw error;
  }
  await devices.pullStick(STICK);
}

/**
 * Pulled as soon as it is noticed. What was read of it by then decides: the host keeps the site that it has, or gets all of
 * the new one; never a part.
 */
async function pulled(node: MediaNode): Promise<void> {
  const before = await node.hostName();
  const image = await node.volumeFor('pulled', 'FAT in a partition');
  const last = await node.lastResult();
  await withStick(node, image, (plug) => node.noticed(plug));
  await node.done();
  const result = await node.lastResult();
  const isNew = result?.outcome === 'configured' && !isDeepStrictEqual(result, last);
  await node.expectName(isNew ? hostNameAt('pulled') : before);
}

async function inDrive(node: MediaNode, name: string): Promise<void> {
  const image = await node.volumeFor(name, 'ISO');
  await node.becomes(name, () => node.devices.insertCd(image));
}

async function onStick(node: MediaNode, name: string, kind: MediumKind): Promise<void> {
  const image = await node.volumeFor(name, kind);
  await withStick(node, image, (plug) => node.becomes(name, plug));
}

const PLAN = 'reconfigure';

const troubles: TroublesOf<MediaNode> = (node) => [
  shown('virtual CD inserted', () => inDrive(node(), 'inserted'), PLAN),
  shown('virtual CD swapped', () => inDrive(node(), 'swapped'), PLAN),
  shown('stick pulled at once', () => pulled(node()), PLAN),
  shown(
    'stick with FAT in a partition',
    () => onStick(node(), 'windows', 'FAT in a partition'),
    PLAN,
  ),
  shown('stick with ext4', () => onStick(node(), 'linux', 'ext4'), PLAN),
  shown('bridge over a bond, and a VLAN', () => bridgeOverBond(node()), PLAN),
  ...sitePowerCuts(node),
  shown('SELinux enforces', () => requireEnforced(node().run), PLAN),
];

export const mediaRows = demandedOf(troubles);

/** Site volumes on the media of a machine: its drive, a stick, with ISO, FAT and ext4. */
export const machineMedia: Scenario = (context) => {
  const run = relocatableHost(context);
  const node = new MediaNode(run);
  return scenarioOf(run, [
    ...run.stepsToDisk(),
    { title: 'Boot from the disk', run: async () => void (await run.bootInstalled()) },
    { title: 'Set up the cluster', run: (report) => run.finish(report) },
    { title: 'Validate, seal, ship', run: (report) => node.leaveFactory(report) },
    { title: 'Boot at the site, sealed', run: () => node.checkSealed() },
    ...meetAll(
      troubles(() => node),
      context,
    ),
  ]);
};
