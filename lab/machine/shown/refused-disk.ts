import { EXIT } from '../../../lib/base/errors/exit-codes.ts';
import { bootWithDisk, expectRefusal } from '../../faults/refusal.ts';
import { demandedOf, meetAll, type TroublesOf } from '../../faults/troubles.ts';
import type { Host } from '../../host/host.ts';
import { onHost } from '../../host/on-host.ts';
import { Installation, scenarioOf } from '../../installation.ts';
import type { Scenario } from '../../scenario.ts';
import { DISK } from '../../site.ts';
import { needed, shown } from './row.ts';

const COMMAND_MS = 60_000;
const AGENTS = ['install-to-disk.service', 'bootkube.service'];
/** Two names with a dash, which the device mapper doubles. */
const GROUP = 'old-system';
const ARRAY = '/dev/md/old';
const MULTIPATH = 'mpatha';

type Command = readonly [string, ...string[]];

/** What a system that was there before has made of the disk, and how a person ends it. */
interface Use {
  readonly make: (sectors: string) => readonly Command[];
  readonly says: readonly RegExp[];
  readonly end: readonly Command[];
}

const wiped: Command = ['wipefs', '--all', DISK];

const volumes: Use = {
  make: () => [
    ['pvcreate', '--yes', DISK],
    ['vgcreate', GROUP, DISK],
    ['lvcreate', '--yes', '--size', '64M', '--name', 'root', GROUP],
  ],
  says: [/is in use/, /logical volume old--system-root/, /vgchange --activate n old-system/],
  end: [
    ['vgchange', '--activate', 'n', GROUP],
    ['vgremove', '--force', '--yes', GROUP],
    ['pvremove', '--yes', DISK],
    wiped,
  ],
};

const array: Use = {
  make: () => [
    ['mdadm', '--create', ARRAY, '--run', '--level=1', '--raid-devices=2', DISK, 'missing'],
    // udev looks at what is new, and a device that is open cannot be made read-only.
    ['udevadm', 'settle'],
    // Then the kernel writes nothing of its own to it while the agents look.
    ['mdadm', '--readonly', ARRAY],
  ],
  says: [/a member of the RAID array/, /mdadm --stop \/dev\/md/],
  end: [['mdadm', '--stop', ARRAY], ['mdadm', '--zero-superblock', DISK], wiped],
};

/** As multipathd makes it of one path. */
const multipath: Use = {
  make: (sectors) => [
    ['modprobe', 'dm-multipath'],
    [
      ...(['dmsetup', 'create', MULTIPATH, '--uuid', 'mpath-sno-lab', '--table'] as const),
      `0 ${sectors} multipath 0 0 1 1 round-robin 0 1 1 ${DISK} 1000`,
    ],
  ],
  says: [/one of the paths of the multipath device mpatha/, /Use \/dev\/mapper\/mpatha/],
  end: [['dmsetup', 'remove', MULTIPATH]],
};

async function make(host: Host, use: Use, signal: AbortSignal): Promise<void> {
  await onHost(host, ['systemctl', 'stop', ...AGENTS], signal);
  const sectors = await onHost(host, ['blockdev', '--getsz', DISK], signal);
  for (const argv of use.make(sectors)) await onHost(host, argv, signal);
}

const refused = (run: Installation, before: bigint, { says }: Use): Promise<void> =>
  expectRefusal(run, before, { exitCode: EXIT.fatal, says });

/** Made while the live host runs, whose agents then look at the disk again. */
async function madeAndRefused(run: Installation, use: Use): Promise<void> {
  const { signal } = run.context;
  try {
    await make(run.booted, use, signal);
    await onHost(run.booted, ['systemctl', 'reset-failed', ...AGENTS], signal);
    const before = await run.booted.diskState();
    await onHost(run.booted, ['systemctl', 'start', '--no-block', ...AGENTS], signal);
    await refused(run, before, use);
  } finally {
    await end(run, use);
  }
}

/** What cannot be ended fails in the next row, which cannot make its own. */
async function end(run: Installation, use: Use): Promise<void> {
  for (const argv of use.end) {
    await run.booted.exec(argv, { timeoutMs: COMMAND_MS }, run.context.signal);
  }
}

/** The live system's own udev activates them when it boots. */
async function foundAtBoot(run: Installation): Promise<void> {
  const { signal } = run.context;
  const host = await run.bootLive('live-before', (early) => make(early, volumes, signal));
  await host.stop();
  const before = await bootWithDisk(run);
  try {
    await refused(run, before, volumes);
  } finally {
    await end(run, volumes);
  }
}

const troubles: TroublesOf<Installation> = (run) => [
  needed(shown('volumes of LVM, activated by the boot', () => foundAtBoot(run()))),
  shown('member of a RAID array', () => madeAndRefused(run(), array)),
  shown('path of a multipath device', () => madeAndRefused(run(), multipath)),
];

export const refusedDiskRows = demandedOf(troubles);

/** A disk that something holds: refused, with the name of what holds it and how to end that, and not one byte written. */
export const refusedDisk: Scenario = (context) => {
  const run = new Installation(context);
  return scenarioOf(run, [
    { title: 'Create the installation', run: () => run.create() },
    ...meetAll(
      troubles(() => run),
      context,
    ),
  ]);
};
