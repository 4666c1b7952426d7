import { scenarioOf } from '../installation.ts';
import type { Scenario } from '../scenario.ts';
import { SiteArrival } from '../site-arrival.ts';

/** Installed and validated in one network, switched off, and at work in another one. */
export const relocate: Scenario = (context) => {
  const run = new SiteArrival(context);
  return scenarioOf(run, [
    ...run.stepsToDisk(),
    { title: 'Boot from the disk', run: async () => void (await run.bootInstalled()) },
    { title: 'Set up the cluster', run: (report) => run.finish(report) },
    { title: 'Check the cluster', run: (report) => run.checkCluster(report) },
    { title: 'Take back that it is relocatable, prepare it again', run: () => run.prepare() },
    { title: 'Fix whose site volumes it takes', run: () => run.fixSigner() },
    { title: 'Validate and seal it', run: () => run.validate() },
    { title: 'Switch it off, connect it to another network', run: () => run.ship() },
    { title: 'Boot at the site: sealed', run: () => run.checkSealed() },
    { title: 'Insert a site volume', run: () => run.insert() },
    { title: 'Wait for PASS', run: (report) => run.pass(report) },
    { title: 'Check what the stick says', run: () => run.checkStick() },
    { title: 'Check the node at its site', run: () => run.checkSite() },
  ]);
};
