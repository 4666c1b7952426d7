import { readFile } from 'node:fs/promises';
import { EXIT } from '../../lib/base/errors/exit-codes.ts';
import { Failure } from '../../lib/base/errors/failure.ts';
import { exitWithin } from '../host/unit-state.ts';
import { Installation, scenarioOf } from '../installation.ts';
import type { Scenario } from '../scenario.ts';
import { bootWithDisk, expectRefusal } from './refusal.ts';

/** The live medium stays first in the boot order: the finished installation must not be changed. */
export const mediumAgain: Scenario = (context) => {
  const run = new Installation(context);
  return scenarioOf(run, [
    { title: 'Create the installation', run: () => run.create() },
    { title: 'Boot the live host', run: async () => void (await run.bootLive()) },
    { title: 'Bootstrap and write the disk', run: (report) => run.bootstrap(report) },
    {
      title: 'Boot the live medium again: refused',
      run: async () => {
        await expectRefusal(run, await bootWithDisk(run, 'live-again'), {
          exitCode: EXIT.fatal,
          says: [/holds a finished installation of this cluster/, /Nothing was changed/],
        });
        await run.booted.stop();
      },
    },
    { title: 'Look at the disk', run: (report) => run.checkDisk(report) },
    { title: 'Boot from the disk', run: async () => void (await run.bootInstalled()) },
    { title: 'Restore, join and clean up', run: (report) => run.finish(report) },
  ]);
};

/** The live host boots, looks at the disk, and asks for its restart. */
const RESTART_MS = 5 * 60_000;

/** For machines, whose firmware boots the medium: the live host puts the disk first in the boot order, and restarts. */
export async function restartsIntoInstallation(run: Installation, label: string): Promise<void> {
  const live = await run.bootLive(label);
  const exit = await exitWithin(live, RESTART_MS, run.context.signal);
  const journal = await readFile(run.journalOf(label), 'utf8');
  const says = /Restarting the host: .+ holds a finished installation/;
  if (exit !== 'reboot' || !says.test(journal)) {
    throw new Failure('fatal', 'the live host has not restarted into the finished installation', {
      expected: `a reboot, and ${says.source} in its journal`,
      found: `${exit}, and ${journal.slice(-500)}`,
    });
  }
  await live.stop();
}
