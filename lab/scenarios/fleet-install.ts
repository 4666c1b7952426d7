import { NewNode } from '../fleet/new-node.ts';
import { scenarioOf } from '../installation.ts';
import type { Scenario } from '../scenario.ts';

/**
 * A hub installs a machine with an empty disk by its BMC. Nobody touches it; it reports to the hub from the live system on, and
 * stores its backups elsewhere. The hub's own kubelet runs the worker.
 */
export const fleetInstall: Scenario = (context) => {
  const node = new NewNode(context);
  return scenarioOf(node, [
    { title: 'Open the site', run: () => node.openSite() },
    { title: 'Install a hub', run: (report) => node.installHub(report) },
    { title: 'Prepare it', run: () => node.prepareHub() },
    { title: 'Import the site', run: () => node.importSite() },
    { title: 'Tell the hub of a BMC', run: () => node.addHost() },
    { title: 'Deliver its live ISO, by a Job', run: () => node.deliver() },
    { title: 'The live system reports', run: (report) => node.reportsFromLive(report) },
    { title: 'Bootstrap and write the disk', run: (report) => node.bootstrap(report) },
    { title: 'Boot from the disk', run: async () => void (await node.bootInstalled()) },
    { title: 'Restore, join and clean up', run: (report) => node.finish(report) },
    { title: "Collect the node's kubeconfig", run: (report) => node.collect(report) },
    { title: 'Its backup is stored elsewhere', run: (report) => node.backUp(report) },
  ]);
};
