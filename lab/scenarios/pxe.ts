import { Installation, scenarioOf } from '../installation.ts';
import type { Scenario } from '../scenario.ts';

/** The same installation without a medium: the live host downloads the executable and the payload. */
export const pxe: Scenario = (context) => {
  const run = new Installation(context, { served: {} });
  return scenarioOf(run, [
    ...run.stepsToDisk(),
    { title: 'Boot from the disk', run: async () => void (await run.bootInstalled()) },
    { title: 'Restore, join and clean up', run: (report) => run.finish(report) },
    { title: 'Check the cluster', run: (report) => run.checkCluster(report) },
  ]);
};
