import { scenarioOf } from '../installation.ts';
import { Recover } from '../recover.ts';
import type { Scenario } from '../scenario.ts';

/** A host gets another name; then it is lost with its disk, and another host continues its cluster. */
export const recover: Scenario = (context) => {
  const run = new Recover(context);
  return scenarioOf(run, [
    ...run.stepsToDisk(),
    { title: 'Boot from the disk', run: async () => void (await run.bootInstalled()) },
    { title: 'Set up the cluster', run: (report) => run.finish(report) },
    { title: 'Rename the host under a workload', run: (report) => run.renameHost(report) },
    { title: 'Make a backup for another host', run: () => run.backUp() },
    { title: 'Lose the host, install another one', run: (report) => run.replaceHost(report) },
    { title: 'Restore on the other host', run: () => run.restore() },
    { title: 'Refuse the lost host', run: () => run.refuseLostHost() },
  ]);
};
