import { EXIT } from '../../lib/errors/exit-codes.ts';
import { Installation, scenarioOf } from '../installation.ts';
import type { Scenario } from '../scenario.ts';
import { expectRefusal } from './refusal.ts';

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
        const host = await run.bootLive('live-again');
        await expectRefusal(run, host, {
          exitCode: EXIT.fatal,
          says: [/holds a finished installation of this cluster/, /Nothing was changed/],
        });
        await host.stop();
      },
    },
    { title: 'Look at the disk', run: (report) => run.checkDisk(report) },
    { title: 'Boot from the disk', run: async () => void (await run.bootInstalled()) },
    { title: 'Restore, join and clean up', run: (report) => run.finish(report) },
  ]);
};
