import { describeError } from '../../lib/base/errors/failure.ts';
import { done } from '../../lib/engine/steps/step.ts';
import type { StepBody } from '../../lib/engine/steps/within.ts';
import { firmwareOf, setBootOrder } from '../../lib/host/boot-order/set-boot-order.ts';
import { readDisk } from '../../lib/host/disk.ts';
import type { InstallContext } from '../steps/host-context.ts';

/**
 * Makes the firmware boot the installed disk. The disk is complete by now: if the firmware
 * refuses, its setup must be used, but the installation does not fail.
 */
export const bootOrder: StepBody<InstallContext> = {
  name: 'boot-order',
  leaves: "the disk first in the firmware's boot order, if the firmware supports it",
  touches: ['systemd', 'firmware'],
  input: ({ cluster }) => [cluster.clusterId, cluster.installation.disk],
  holds: async () => true,
  async run({ cluster, paths }, progress) {
    const { disk } = cluster.installation;
    const byHand = `Put ${disk} first in the firmware setup, or remove the live medium, before the host restarts.`;
    const firmware = await firmwareOf(paths);
    if (firmware === 'none') {
      progress.say(`Without EFI the boot order cannot be changed from here. ${byHand}`);
      return done('left to the BIOS');
    }
    try {
      const written = await readDisk(disk, paths, progress.signal);
      return done(await setBootOrder(written, firmware, paths, progress.signal));
    } catch (error) {
      progress.signal.throwIfAborted();
      progress.warn(`The boot order was not changed: ${describeError(error)}. ${byHand}`);
      return done('not changed');
    }
  },
};
