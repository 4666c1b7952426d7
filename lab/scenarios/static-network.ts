import { appliedBeforeFetch, networkKept } from '../checks/static-network.ts';
import { nmstatectl } from '../components/nmstatectl.ts';
import { DATA_LABEL, makeDataPartition, requireUnchanged } from '../host/data-partition.ts';
import { Installation, scenarioOf } from '../installation.ts';
import type { Scenario } from '../scenario.ts';
import { type Families, hostOf } from '../site.ts';
import { networkConfigOf } from '../static-network.ts';

const families: Families = ['IPv4', 'IPv6'];

/**
 * A site without DHCP, and a disk with a partition to preserve: the live host must configure its
 * network before it can download anything, and the installed host must have the same network.
 */
export const staticNetwork: Scenario = (context) => {
  const { signal } = context;
  const run = new Installation(context, {
    site: { families, dhcp: false },
    served: {},
    hostInputs: {
      networkConfig: networkConfigOf(hostOf(families)),
      savePartitions: { labels: [DATA_LABEL] },
    },
    programs: [nmstatectl],
  });
  let requireDataKept = async () => {};
  return scenarioOf(run, [
    { title: 'Create the installation', run: () => run.create() },
    {
      title: 'Create a partition with data on the disk',
      run: async () => {
        const { disk } = run.site;
        const data = await makeDataPartition(disk, signal);
        requireDataKept = () => requireUnchanged(disk, data, signal);
      },
    },
    { title: 'Boot the live host', run: async () => void (await run.bootLive()) },
    { title: 'Fetch, bootstrap and write the disk', run: (report) => run.bootstrap(report) },
    {
      title: 'Look at the disk before its first boot',
      run: async (report) => {
        await run.checkDisk(report);
        await requireDataKept();
        await appliedBeforeFetch(run.journalOf('live'));
      },
    },
    { title: 'Boot from the disk', run: async () => void (await run.bootInstalled()) },
    { title: 'Restore, join and clean up', run: (report) => run.finish(report) },
    {
      title: 'Check the cluster',
      run: async (report) => {
        await run.checkCluster(report);
        if (run.host !== undefined) await networkKept(run.host, signal);
        await requireDataKept();
      },
    },
  ]);
};
