import { InPlace } from '../in-place.ts';
import { scenarioOf } from '../installation.ts';
import { requireEnforced } from '../machine/shown/selinux.ts';
import type { Scenario } from '../scenario.ts';

/**
 * From an image on a disk to a cluster, without a live image, and without a trace of the bootstrap on that disk: the power
 * fails once, and the bundle is served once.
 */
const fromDisk =
  (source: 'url' | 'medium'): Scenario =>
  (context) => {
    const run = new InPlace(context, source);
    return scenarioOf(run, [
      ...run.stepsToDisk(),
      { title: 'Boot from the disk', run: async () => void (await run.bootInstalled()) },
      { title: 'Restore, join and clean up', run: (report) => run.finish(report) },
      ...(context.hosts.are === 'machines'
        ? [{ title: 'SELinux enforces, and has denied nothing', run: () => requireEnforced(run) }]
        : []),
      { title: 'Check the cluster', run: (report) => run.checkCluster(report) },
      {
        title: 'Look for the bootstrap on the raw disk',
        run: (report) => run.checkRawDisk(report),
      },
      { title: 'The same with a file of the bootstrap, deleted', run: () => run.expectFound() },
    ]);
  };

export const inPlace = fromDisk('url');

/** The same with executable, payload and bundle on a medium, which is taken out before the installed host boots. */
export const inPlaceMedium = fromDisk('medium');
