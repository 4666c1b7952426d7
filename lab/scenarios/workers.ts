import { scenarioOf } from '../installation.ts';
import type { Scenario } from '../scenario.ts';
import { Workers } from '../workers.ts';

/** Hosts that join a running all-in-one host: one that its list allows, and one that it does not. */
export const workers: Scenario = (context) => {
  const run = new Workers(context);
  return scenarioOf(run, [
    ...run.stepsToDisk(),
    { title: 'Boot from the disk', run: async () => void (await run.bootInstalled()) },
    { title: 'Set up the cluster', run: (report) => run.finish(report) },
    { title: 'Create the Ignition config of workers', run: () => run.createWorkers() },
    { title: 'Boot a worker, kill its agent', run: (report) => run.bootWorker(report) },
    { title: 'Allow it by the fingerprint of its key', run: (report) => run.join(report) },
    { title: 'Check the worker', run: (report) => run.checkWorker(report) },
    { title: 'Boot a host that is not allowed', run: (report) => run.refuseStranger(report) },
  ]);
};
