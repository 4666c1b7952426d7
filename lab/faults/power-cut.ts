import { Failure } from '../../lib/base/errors/failure.ts';
import type { AgentName } from '../../lib/engine/agents/table.ts';
import { readJournal } from '../../lib/engine/steps/journal.ts';
import { AllInOne } from '../all-in-one.ts';
import { journalStory } from '../checks/journal-story.ts';
import { restarts } from '../checks/restarts.ts';
import type { Host } from '../host/host.ts';
import { stepJournal, waitForStep } from '../host/wait-for-step.ts';
import { Installation, scenarioOf } from '../installation.ts';
import type { Scenario, ScenarioStep } from '../scenario.ts';
import { importEnded } from './import-ended.ts';
import { intoStep } from './into-step.ts';
import { restartsIntoInstallation } from './medium-again.ts';

/** The live stage keeps no state across the power cut; only the disk shows it. */
function requireUnfinished(found: string | undefined): void {
  if (/unfinished installation of this cluster/.test(found ?? '')) return;
  throw new Failure('fatal', 'the half-written disk was not recognized', {
    found: found ?? 'nothing',
  });
}

/** A step that is interrupted by a power cut, or after which the power fails. */
export type Moment = readonly [agent: AgentName, step: string, event: 'started' | 'done'];

export async function reached(
  host: Host,
  [agent, step, event]: Moment,
  signal: AbortSignal,
  since?: string,
): Promise<void> {
  await waitForStep(host, agent, [step, event], signal, since);
  if (agent === 'aiokube' && step === 'payload' && event === 'started') {
    return importEnded(host, signal);
  }
  if (event === 'started') await intoStep(agent, step, signal);
}

/**
 * On the next boot, before its agents have started: the step was not done. On a machine, that it had started may be
 * lost as well, if the power failed before the disk had it.
 *
 * @param since ISO 8601: entries of earlier runs do not count. Default: all count.
 */
export async function requireInterrupted(
  { rootDir }: Host,
  [agent, step, event]: Moment,
  since = '',
): Promise<void> {
  const entries = await readJournal(stepJournal(rootDir, agent));
  const last = entries.findLast((entry) => entry.step === step && entry.at >= since);
  if (event === 'done' || last?.event !== 'done') return;
  throw new Failure('fatal', `the power cut did not interrupt the step ${step} of ${agent}`, {
    found: `it is done, ${last.at}`,
  });
}

/** Boots from the disk with a power cut at each of the moments, and once more to the end. */
function bootsFromDisk(run: Installation, moments: readonly [Moment, ...Moment[]]): ScenarioStep[] {
  const { signal } = run.context;
  const afterCut = async (host: Host, index: number) => {
    const moment = moments[index - 1];
    if (moment !== undefined) await requireInterrupted(host, moment);
  };
  const last = `disk-${moments.length + 1}`;
  return [
    ...moments.map((moment, index) => ({
      title: `Boot from the disk, power cut with ${moment[1]} ${moment[2]}`,
      run: () =>
        run.bootUntilPowerCut(`disk-${index + 1}`, async (host) => {
          await afterCut(host, index);
          await reached(host, moment, signal);
        }),
    })),
    {
      title: 'Boot again and finish',
      run: async (report) => {
        await run.bootInstalled(last, (host) => afterCut(host, moments.length));
        await run.finish(report, last);
      },
    },
    {
      title: 'Check the cluster',
      // Each boot starts the containers once; these checks refer to one boot.
      run: (report) => run.checkCluster(report, [restarts.name, journalStory.name]),
    },
  ];
}

/** The boot order is still that of before. */
const mediumFirst = (run: Installation): ScenarioStep => ({
  title: 'Boot the medium again, which puts the disk first',
  run: () => restartsIntoInstallation(run, 'live-3'),
});

/**
 * The power fails four times: while the payload is copied to the disk (the live stage starts
 * over and rewrites the disk), when the disk is complete (the host boots from it; where firmware still finds the medium
 * first, that live host puts the disk first), and on the installed host before its database is completely restored and in
 * its steady state.
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
        // Meanwhile, so that the power fails before the next step, which changes the boot order.
        await waitForStep(host, 'install-to-disk', ['write-disk', 'started'], signal);
        await run.keepLive();
        await waitForStep(host, 'install-to-disk', ['copy-payload', 'done'], signal);
        await host.powerCut();
      },
    },
    { title: 'Look at the disk', run: (report) => run.checkDisk(report) },
    ...(context.hosts.mediumStays ? [mediumFirst(run)] : []),
    ...bootsFromDisk(run, [
      ['sno-restore', 'restore-database', 'done'],
      ['post-reboot', 'steady-state', 'started'],
    ]),
  ]);
};

/**
 * An all-in-one host: the power fails in four steps of one installation; in the first of them between the import of the
 * images and their sync.
 */
export const aioPowerCut: Scenario = (context) => {
  const run = new AllInOne(context);
  return scenarioOf(run, [
    ...run.stepsToDisk(),
    ...bootsFromDisk(run, [
      ['aiokube', 'payload', 'started'],
      ['aiokube', 'etcd', 'started'],
      ['aiokube', 'manifests', 'started'],
      ['aiokube', 'steady-state', 'started'],
    ]),
  ]);
};
