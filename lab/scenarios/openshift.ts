import { join } from 'node:path';
import { inspectDisk } from '../host/disk.ts';
import { scenarioOf } from '../installation.ts';
import { OpenShiftInstallation } from '../openshift/installation.ts';
import { requireCombined, requireLiveSteps } from '../openshift/live-checks.ts';
import type { Scenario } from '../scenario.ts';

/**
 * OpenShift's control plane on a live host, up to its disk: the Ignition config of openshift-install
 * is taken over, the release is pulled, rendered and run, and the operating system is written.
 */
export const openshift: Scenario = (context) => {
  const run = new OpenShiftInstallation(context);
  const { out, signal } = context;
  return scenarioOf(run, [
    { title: 'Create the installation', run: () => run.create() },
    { title: 'Boot the live host', run: async () => void (await run.bootLive()) },
    { title: 'Bootstrap and write the disk', run: (report) => run.bootstrap(report) },
    {
      title: 'Look at what was done',
      run: async (report) => {
        const notes = await requireLiveSteps(join(out, 'agents/live/bootkube.jsonl'));
        const { site } = run;
        const files = await inspectDisk(site.disk, signal, ({ boot }) => requireCombined(boot));
        report(`manifests: ${notes.get('manifests')}; ${files} files on the installed host`);
      },
    },
  ]);
};
