import { Installation, scenarioOf } from '../installation.ts';
import { NET_BOOT_SCRIPT } from '../machine/net-boot.ts';
import type { Scenario } from '../scenario.ts';

/** Its root file system is in memory, and so is the payload, twice. */
const MEMORY_MIB = 6144;

/** The same installation without a medium: a machine boots by iPXE, and the live host downloads executable and payload. */
export const pxe: Scenario = (context) => {
  const run = new Installation(context, { served: {}, site: { bootFile: NET_BOOT_SCRIPT } });
  run.hardware = { networkBoot: true, memoryMiB: MEMORY_MIB };
  return scenarioOf(run, [
    ...run.stepsToDisk(),
    { title: 'Boot from the disk', run: async () => void (await run.bootInstalled()) },
    { title: 'Restore, join and clean up', run: (report) => run.finish(report) },
    { title: 'Check the cluster', run: (report) => run.checkCluster(report) },
  ]);
};
