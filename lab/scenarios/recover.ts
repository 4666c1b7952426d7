import { scenarioOf } from '../installation.ts';
import { Recover } from '../recover.ts';
import type { Scenario } from '../scenario.ts';
import { patches, Updates, updateThatFails, updateThatSettles } from '../updates.ts';

/**
 * A host gets another name; then its system disk is destroyed. Another host, with another name and address and the data
 * disk of the first, installs itself from a config made of the backup, continues the cluster, and is updated.
 */
export const recover: Scenario = (context) => {
  const run = new Recover(context);
  const updates = new Updates(run, context, patches);
  return scenarioOf(run, [
    ...run.stepsToDisk(),
    { title: 'Boot from the disk', run: async () => void (await run.bootInstalled()) },
    { title: 'Set up the cluster', run: (report) => run.finish(report) },
    { title: 'Rename the host under a workload', run: (report) => run.renameHost(report) },
    { title: 'Make a backup for another host', run: () => run.backUp() },
    { title: 'Destroy the disk, install another host', run: (report) => run.replaceHost(report) },
    { title: 'It continues the cluster', run: (report) => run.awaitRestored(report) },
    { title: 'Refuse the lost host', run: () => run.refuseLostHost() },
    { title: 'Exchange its kubeconfig', run: (report) => run.exchangeKubeconfig(report) },
    { title: 'Conformance', run: (report) => run.passSubset(report, 'conformance') },
    ...updateThatSettles(updates),
    { title: 'Conformance again', run: (report) => run.passSubset(report, 'conformance-updated') },
    ...updateThatFails(updates),
    { title: 'The workload goes on', run: () => run.expectWorkload() },
  ]);
};
