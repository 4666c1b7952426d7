import { join } from 'node:path';
import { scenarioOf } from '../installation.ts';
import { OpenShiftInstallation } from '../openshift/installation.ts';
import { countedRevisions } from '../openshift/installed-checks.ts';
import { requireLiveSteps } from '../openshift/live-checks.ts';
import type { Scenario } from '../scenario.ts';

/**
 * OpenShift's control plane from a live host to its own operators: the Ignition config of
 * openshift-install is taken over, the release is pulled, rendered and run, and the operating system
 * is written; after the reboot etcd is restored and static pod operators take the pods over.
 */
export const openshift: Scenario = (context) => {
  const run = new OpenShiftInstallation(context);
  const { out } = context;
  return scenarioOf(run, [
    ...run.stepsToDisk(),
    {
      title: 'Look at what the live host did',
      run: async (report) => {
        const notes = await requireLiveSteps(join(out, 'agents/live/bootkube.jsonl'));
        report(`manifests: ${notes.get('manifests')}`);
      },
    },
    { title: 'Boot from the disk', run: async () => void (await run.bootInstalled()) },
    { title: 'Restore, be taken over and clean up', run: (report) => run.finish(report) },
    { title: 'Check the cluster', run: (report) => run.checkCluster(report) },
    {
      title: 'Count the revisions',
      run: async (report) => report(await countedRevisions(run.booted, out)),
    },
  ]);
};
