import { AllInOne } from '../all-in-one.ts';
import { crioOsImage } from '../components/cri-o-system.ts';
import { debianRuntimeOsImage } from '../components/os-image.ts';
import { scenarioOf } from '../installation.ts';
import type { LabContext, Scenario, ScenarioStep } from '../scenario.ts';
import { SearchedAllInOne } from '../searched.ts';

/** From an image on a disk to a cluster of one node, without a live stage and without DNS. */
export const allInOne =
  (
    further: (run: AllInOne, context: LabContext) => readonly ScenarioStep[],
    make = (context: LabContext) => new AllInOne(context),
  ): Scenario =>
  (context) => {
    const run = make(context);
    return scenarioOf(run, [...toCluster(run), ...further(run, context)]);
  };

const toCluster = (run: AllInOne): readonly ScenarioStep[] => [
  ...run.stepsToDisk(),
  { title: 'Boot from the disk', run: async () => void (await run.bootInstalled()) },
  { title: 'Set up the cluster', run: (report) => run.finish(report) },
  { title: 'Check the cluster', run: (report) => run.checkCluster(report) },
];

const restarted = allInOne((run) => [{ title: 'Restart the host', run: () => run.restart() }]);

const searched: Scenario = (context) => {
  const run = new SearchedAllInOne(context);
  return scenarioOf(run, [
    ...toCluster(run),
    { title: 'Restart the host', run: () => run.restart() },
    {
      title: 'Look for its installation on the raw disk',
      run: (report) => run.checkRawDisk(report),
    },
  ]);
};

/** The files of a machine are read over a port, which takes too long for a whole host. */
export const aio: Scenario = (context) =>
  (context.hosts.are === 'machines' ? restarted : searched)(context);

/** The same with executable and payload on a second medium, a CPU for the node itself, and a backup restored. */
export const aioMedium = allInOne(
  (run) => [
    { title: 'Check its CPUs, restore a backup', run: (report) => run.checkFurther(report) },
  ],
  (context) => new AllInOne(context, { source: 'medium', hostInputs: { reservedCPUs: 0 } }),
);

/**
 * The host of `npm run test:conformance`. Kubernetes' tests look up names with dig, which tries the
 * site's domain first and stops unless its name server says that there is no such name.
 */
export const conformance = allInOne(
  () => [],
  (context) => new AllInOne(context, { dns: 'authoritative' }),
);

/** The same with Debian's containerd 1.6, which has no RuntimeConfig. */
export const aioContainerd1 = allInOne(
  (run) => [{ title: 'Restart the host', run: () => run.restart() }],
  (context) => new AllInOne(context, { operatingSystem: debianRuntimeOsImage }),
);

/** The same on an operating system with CRI-O in place of containerd. */
export const crio = allInOne(
  (run) => [{ title: 'Restart the host', run: () => run.restart() }],
  (context) => new AllInOne(context, { operatingSystem: crioOsImage }),
);
