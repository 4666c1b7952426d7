import { scenarioOf } from '../installation.ts';
import { Moving } from '../moving.ts';
import type { Scenario } from '../scenario.ts';

/** The DHCP server gives a running host another address: it says so, and follows once it may. */
export const address: Scenario = (context) => {
  const run = new Moving(context);
  return scenarioOf(run, [
    ...run.stepsToDisk(),
    { title: 'Boot from the disk', run: async () => void (await run.bootInstalled()) },
    { title: 'Set up the cluster', run: (report) => run.finish(report) },
    { title: 'Move its lease: it stops', run: (report) => run.stops(report) },
    { title: 'Let it follow', run: (report) => run.follows(report) },
  ]);
};

/** The same while the host is off, as its install-config says. */
export const addressOff: Scenario = (context) => {
  const run = new Moving(context, 'follow');
  return scenarioOf(run, [
    ...run.stepsToDisk(),
    { title: 'Boot from the disk', run: async () => void (await run.bootInstalled()) },
    { title: 'Set up the cluster', run: (report) => run.finish(report) },
    { title: 'Start it at another address', run: (report) => run.restartsElsewhere(report) },
  ]);
};
