import { join } from 'node:path';
import { Failure } from '../../lib/errors/failure.ts';
import { waitForStep } from '../host/wait-for-step.ts';
import { Installation, scenarioOf } from '../installation.ts';
import type { Scenario } from '../scenario.ts';

/** The live stage keeps no state across the power cut; only the disk shows it. */
function requireUnfinished(found: string | undefined): void {
  if (/unfinished installation of this cluster/.test(found ?? '')) return;
  throw new Failure('fatal', 'the half-written disk was not recognized', {
    found: found ?? 'nothing',
  });
}

/**
 * The power fails three times: while the payload is copied to the disk (the live stage starts
 * over and rewrites the disk), when the disk is complete (the host boots from it), and on the
 * installed host before its database is completely restored.
 */
export const powerCut: Scenario = (context) => {
  const run = new Installation(context);
  const { signal } = context;
  return scenarioOf(run, [
    { title: 'Create the installation', run: () => run.create() },
    {
      title: 'Power cut while the disk is half-written',
      run: async () => {
        const host = await run.bootLive('live-1');
        await waitForStep(host, 'install-to-disk', ['copy-payload', 'started'], signal);
        await host.powerCut();
      },
    },
    {
      title: 'Start over, power cut when the disk is complete',
      run: async () => {
        const host = await run.bootLive('live-2');
        const { note } = await waitForStep(host, 'bootkube', ['inspect-disk', 'done'], signal);
        requireUnfinished(note);
        await waitForStep(host, 'install-to-disk', ['copy-payload', 'done'], signal);
        await run.keepLive();
        await host.powerCut();
      },
    },
    { title: 'Look at the disk', run: (report) => run.checkDisk(report) },
    {
      title: 'Boot from the disk, power cut after the restore',
      run: async () => {
        const host = await run.bootInstalled('disk-1');
        await waitForStep(host, 'sno-restore', ['restore-database', 'done'], signal);
        await host.powerCut();
      },
    },
    {
      title: 'Boot again, power cut in the steady state',
      run: async () => {
        const host = await run.bootInstalled('disk-2');
        await waitForStep(host, 'post-reboot', ['steady-state', 'started'], signal);
        await host.powerCut();
      },
    },
    {
      title: 'Boot again and finish',
      run: async (report) => {
        await run.bootInstalled('disk-3');
        await run.finish(report, 'disk-3');
      },
    },
    {
      title: 'Check the cluster',
      run: async (report) => {
        // Each boot starts the containers once; the checks of restarts refer to one boot.
        await run.checkCluster(report, [
          'the record counts the restarts of the control plane, and there was none',
          'the journals tell every step in order, without a secret or a stack trace',
        ]);
        if (run.journals.length !== 5) {
          throw new Failure('fatal', 'a boot is missing', { found: join(...run.journals) });
        }
      },
    },
  ]);
};
