import { clusterChecks } from '../../checks/index.ts';
import { nodeReady } from '../../checks/node-ready.ts';
import { eventually } from '../../eventually.ts';
import { restartsIntoInstallation } from '../../faults/medium-again.ts';
import { demandedOf, meetAll, type TroublesOf } from '../../faults/troubles.ts';
import { Installation, scenarioOf } from '../../installation.ts';
import type { Scenario } from '../../scenario.ts';
import {
  bootMediumNext,
  requireArguments,
  requireBootedFromDisk,
  requireSecureBoot,
} from './firmware.ts';
import { pressAndTurnOn } from './power-button.ts';
import { shown, shownChecks } from './row.ts';
import { requireEnforced } from './selinux.ts';

const READY_MS = 6 * 60_000;

async function powerButton(run: Installation): Promise<void> {
  await pressAndTurnOn(run, 'disk-after-button');
  await readyAgain(run);
}

async function readyAgain(run: Installation): Promise<void> {
  const { cluster } = run;
  const { signal } = run.context;
  await eventually(() => nodeReady.run(cluster, signal), READY_MS, signal);
}

/** The medium is booted once more: the finished installation is not changed, and the live host restarts into it. */
async function mediumAgain(run: Installation): Promise<void> {
  const { signal } = run.context;
  await bootMediumNext(run.booted, signal);
  await run.booted.stop();
  await restartsIntoInstallation(run, 'live-again');
  await run.bootInstalled('disk-after-medium');
  await requireBootedFromDisk(run.booted, signal);
  await readyAgain(run);
}

const troubles: TroublesOf<Installation> = (run) => [
  shown('medium left in the drive', () =>
    requireBootedFromDisk(run().booted, run().context.signal),
  ),
  shown('Secure Boot', () => requireSecureBoot(run().booted, run().context.signal)),
  shown('kernel arguments', () => requireArguments(run().booted, run().context.signal)),
  ...shownChecks(clusterChecks, (check) => run().runClusterChecks([check], () => undefined)),
  shown('power button', () => powerButton(run())),
  shown('medium booted again', () => mediumAgain(run())),
  shown('SELinux enforces', () => requireEnforced(run())),
];

export const installedRows = demandedOf(troubles);

/**
 * One installation from the medium to the disk, and what firmware, boot loader and kernel made of it. With Secure Boot on; the
 * other scenarios have it off.
 */
export const installedMachine: Scenario = (context) => {
  const run = new Installation(context);
  run.hardware = { secureBoot: true };
  return scenarioOf(run, [
    ...run.stepsToDisk(),
    { title: 'Boot from the disk', run: async () => void (await run.bootInstalled()) },
    { title: 'Restore, join and clean up', run: (report) => run.finish(report) },
    ...meetAll(
      troubles(() => run),
      context,
    ),
  ]);
};
