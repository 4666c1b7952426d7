import { RolledOut } from '../fleet/roll-out.ts';
import { scenarioOf } from '../installation.ts';
import { relocatableHost } from '../relocation.ts';
import type { Scenario } from '../scenario.ts';

/**
 * A hub moves two sealed nodes to their sites. One gets its volume by a URL, and the site is not as expected; then by its BMC,
 * and the hub is away. Then the hub names an update. The other one has no cable, and fails. The hub's own kubelet runs the worker.
 */
export const fleet: Scenario = (context) => {
  const run = relocatableHost(context);
  const node = new RolledOut(run, { hostname: 'edge.site.test' });
  return scenarioOf(run, [
    ...run.stepsToDisk(),
    { title: 'Boot from the disk', run: async () => void (await run.bootInstalled()) },
    { title: 'Set up the cluster', run: (report) => run.finish(report) },
    { title: 'Prepare it', run: (report) => node.prepareForShipping(report) },
    { title: 'Fix where it asks for its volume', run: () => node.fixUrl() },
    { title: 'Validate and seal it', run: () => node.validate() },
    { title: 'Take its facts to the hub', run: () => node.takeFacts() },
    { title: 'Switch it off, connect it to another network', run: () => node.ship() },
    { title: 'Set up a hub', run: () => node.openHub() },
    { title: 'Import the sites', run: () => node.importSites() },
    { title: 'Deliver both volumes, by a Job', run: () => node.deliver() },
    { title: 'Switch the node on', run: () => node.switchOn() },
    { title: 'The hub learns what is wrong with both', run: (report) => node.failAtSite(report) },
    { title: 'Tell the hub of its BMC', run: () => node.addHost() },
    { title: 'Put it right by virtual media, and unplug the hub', run: () => node.correct() },
    { title: 'Wait for PASS', run: (report) => node.pass(report) },
    { title: 'The hub learns it later', run: (report) => node.reportsLater(report) },
    { title: "Collect the node's kubeconfig", run: () => node.collect() },
    { title: 'Update it, as its Site says', run: (report) => node.update(report) },
    { title: 'What its certificate can do', run: () => node.cannotDoMore() },
  ]);
};
