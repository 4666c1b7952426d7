import { EXIT } from '../../../lib/errors/exit-codes.ts';
import { Failure } from '../../../lib/errors/failure.ts';
import { clusterChecks } from '../../checks/index.ts';
import { nodeReady } from '../../checks/node-ready.ts';
import { expectRefusal } from '../../faults/refusal.ts';
import { meetAll } from '../../faults/troubles.ts';
import { Installation, scenarioOf } from '../../installation.ts';
import { patient } from '../../patience.ts';
import type { Scenario } from '../../scenario.ts';
import { asMachine } from '../machine-host.ts';
import { bootMediumNext, requireArguments, requireBootedFromDisk } from './firmware.ts';
import { shown } from './row.ts';

const POWER_OFF_MS = 60_000;

/** The installed host goes down by its power button, and is turned on again. */
async function powerButton(run: Installation): Promise<void> {
  const machine = asMachine(run.booted);
  await machine.devices.pressPowerButton();
  const exit = await machine.waitForExit(AbortSignal.timeout(patient(POWER_OFF_MS)));
  if (exit !== 'poweroff') throw new Failure('fatal', 'the host did not turn off', { found: exit });
  await machine.stop();
  await run.bootInstalled('disk-after-button');
  await run.runChecks([nodeReady], () => undefined, {});
}

/** The medium is booted once more: the finished installation is not changed, and the next boot is the disk's again. */
async function mediumAgain(run: Installation): Promise<void> {
  const { signal } = run.context;
  await bootMediumNext(run.booted, signal);
  await run.booted.stop();
  const live = await run.bootLive('live-again');
  await expectRefusal(run, live, {
    exitCode: EXIT.fatal,
    says: [/holds a finished installation of this cluster/, /Nothing was changed/],
  });
  await live.stop();
  await run.bootInstalled('disk-after-medium');
  await requireBootedFromDisk(run.booted, signal);
  await run.runChecks([nodeReady], () => undefined, {});
}

/** One installation from the medium to the disk, and what firmware, boot loader and kernel made of it. */
export const installedMachine: Scenario = (context) => {
  const run = new Installation(context);
  const { signal } = context;
  return scenarioOf(run, [
    ...run.stepsToDisk(),
    { title: 'Boot from the disk', run: async () => void (await run.bootInstalled()) },
    { title: 'Restore, join and clean up', run: (report) => run.finish(report) },
    ...meetAll(
      [
        shown('medium left in the drive', () => requireBootedFromDisk(run.booted, signal)),
        shown('kernel arguments', () => requireArguments(run.booted, signal)),
        ...clusterChecks.map((check) =>
          shown(check.name, () => run.runClusterChecks([check], () => undefined)),
        ),
        shown('power button', () => powerButton(run)),
        shown('medium booted again', () => mediumAgain(run)),
      ],
      context,
    ),
  ]);
};
