import { identity } from '../../lib/engine/agents/table.ts';
import type { Plan } from '../../lib/engine/steps/step.ts';
import { within } from '../../lib/engine/steps/within.ts';
import type { Settings } from '../../lib/host/settings.ts';
import type { InstallContext } from '../steps/host-context.ts';
import { inspectDisk } from '../steps/inspect-disk.ts';
import { bootOrder } from './boot-order.ts';
import { copyPayload } from './copy-payload.ts';
import { restart } from './restart.ts';
import { waitForBootkube } from './wait-for-bootkube.ts';
import { writeDisk } from './write-disk.ts';

/** From the combined Ignition to the reboot into the disk. Other installers omit this plan. */
export const installToDiskPlan = (s: Settings): Plan<InstallContext> => ({
  ...identity('install-to-disk'),
  achieved: 'the disk is written',
  steps: [
    within(s, 'waitForBootkubeMs', waitForBootkube),
    within(s, 'inspectDiskMs', inspectDisk),
    within(s, 'writeDiskMs', writeDisk),
    within(s, 'copyPayloadMs', copyPayload),
    within(s, 'bootOrderMs', bootOrder),
    within(s, 'finishMs', restart),
  ],
});
