import { waitForStep } from '../host/wait-for-step.ts';
import { scenarioOf } from '../installation.ts';
import { compareWithReference } from '../openshift/compare-with-reference.ts';
import { OpenShiftInstallation } from '../openshift/installation.ts';
import { measureRendering, stopAgent } from '../openshift/render-times.ts';
import type { LabContext, Scenario } from '../scenario.ts';

/** Names a folder as `/opt/openshift` is after all stages of a real release. */
const RENDERED = 'SNO_OPENSHIFT_RENDERED';

/**
 * OpenShift's live host until its control plane is rendered: pulled from the site's mirror, and run
 * by the real podman. Compared with what the operators of a real release render, if there is any, and
 * with the shell's way, which runs one stage after another.
 */
export const openshiftRender: Scenario = (context) => {
  const run = new OpenShiftInstallation(context);
  const { out, signal } = context;
  return scenarioOf(run, [
    { title: 'Create the installation', run: () => run.create() },
    { title: 'Boot the live host', run: async () => void (await run.bootLive()) },
    { title: 'Pull and render', run: () => render(run, context) },
    {
      title: 'Compare with a real release',
      run: async (report) => {
        const folder = process.env[RENDERED];
        report(
          folder === undefined
            ? `not compared: ${RENDERED} is not set`
            : await compareWithReference(run.booted, folder, context),
        );
      },
    },
    {
      title: 'Render again, in turns with one stage after another',
      run: async (report) => {
        const { releaseImage } = run;
        await measureRendering(run.booted, { releaseImage, out }, report, signal);
      },
    },
  ]);
};

/** The agent is stopped before it starts etcd. */
async function render(run: OpenShiftInstallation, { signal }: LabContext): Promise<void> {
  await waitForStep(run.booted, 'bootkube', ['render', 'done'], signal);
  await stopAgent(run.booted, signal);
}
