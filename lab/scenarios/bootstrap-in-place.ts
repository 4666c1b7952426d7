import { finishedCluster, gathered } from '../bundle/gathered.ts';
import type { Hardware } from '../host/host.ts';
import { Installation, type InstallationOptions, scenarioOf } from '../installation.ts';
import { compressedPayload } from '../payload.ts';
import type { LabContext, Scenario, ScenarioStep } from '../scenario.ts';
import type { Families } from '../site.ts';

/** The payload is in memory once more: decompressed. */
const MEMORY_MIB = 6144;

/**
 * From a live image to a finished cluster: bootstrap on the live host, write its disk, reboot
 * into it, restore etcd, join the node, remove all leftovers.
 */
export const bootstrapIn =
  (
    families: Families,
    further: (run: Installation, context: LabContext) => readonly ScenarioStep[] = () => [],
    { hardware = {}, ...options }: InstallationOptions & { readonly hardware?: Hardware } = {},
  ): Scenario =>
  (context) => {
    const run = new Installation(context, { ...options, site: { families } });
    run.hardware = hardware;
    return scenarioOf(run, [
      ...run.stepsToDisk(),
      { title: 'Boot from the disk', run: async () => void (await run.bootInstalled()) },
      { title: 'Restore, join and clean up', run: (report) => run.finish(report) },
      { title: 'Check the cluster', run: (report) => run.checkCluster(report) },
      ...further(run, context),
    ]);
  };

/** As the installer does over SSH, with its command and user; all other states: test:gather. */
const gatherFinished = (run: Installation, context: LabContext): ScenarioStep => ({
  title: 'Gather on the finished cluster',
  run: async (report) => {
    const command = { command: 'installer-gather.sh --id lab', id: 'lab' };
    if (run.host === undefined) throw new Error('no host is running');
    report(`${await gathered(run.host, command, finishedCluster, context)} s`);
  },
});

export const bootstrapInPlace = bootstrapIn(['IPv4'], (run, context) => [
  gatherFinished(run, context),
]);
/**
 * The same on other networks, where the site has addresses, names and routes only of those families. The one of both has a
 * medium with a compressed payload.
 */
export const dualStack = bootstrapIn(['IPv4', 'IPv6'], () => [], {
  payload: compressedPayload,
  hardware: { memoryMiB: MEMORY_MIB },
});
export const ipv6 = bootstrapIn(['IPv6']);
