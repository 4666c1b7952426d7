import { AllInOne } from '../all-in-one.ts';
import { scenarioOf } from '../installation.ts';
import type { Scenario } from '../scenario.ts';

/** From an image on a disk to a cluster of one node, without a live stage and without DNS. */
export const aio: Scenario = (context) => {
  const run = new AllInOne(context);
  return scenarioOf(run, [
    { title: 'Create the installation', run: () => run.create() },
    { title: 'Write the image to the disk', run: () => run.writeDisk() },
    { title: 'Boot from the disk', run: async () => void (await run.bootInstalled()) },
    { title: 'Set up the cluster', run: (report) => run.finish(report) },
    { title: 'Check the cluster', run: (report) => run.checkCluster(report) },
  ]);
};
