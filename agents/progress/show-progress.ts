import { installingAgents } from '../../lib/agents/table.ts';
import { exists } from '../../lib/host/files.ts';
import { waitForFiles } from '../../lib/host/watch.ts';
import { statusPath } from '../../lib/steps/reporter.ts';
import { type AgentStatus, readStatus } from '../../lib/steps/status.ts';
import { done } from '../../lib/steps/step.ts';
import type { StepBody } from '../../lib/steps/within.ts';
import type { HostContext } from '../steps/host-context.ts';

/** Says each change of the two agents' states as one line, until the installation is on the disk. */
export const showProgress: StepBody<HostContext> = {
  name: 'show-progress',
  leaves: 'the state of the installation on the console',
  retries: true,
  input: ({ cluster }) => cluster.clusterId,
  holds: ({ paths }) => exists(paths.installDone),
  async run({ paths }, progress) {
    const files = installingAgents.live.map(({ name }) => statusPath(paths, name));
    const shown = new Map<string, string>();
    const show = async () => {
      for (const file of files) {
        const line = progressLine(await readStatus(file));
        if (line === undefined || shown.get(file) === line) continue;
        shown.set(file, line);
        progress.say(line);
      }
      return exists(paths.installDone);
    };
    await progress.wait('the installation', () =>
      waitForFiles([...files, paths.installDone], show, {
        signal: progress.signal,
        deadlineMs: progress.remainingMs(),
        describe: () => 'the installation to be on the disk',
      }),
    );
    return done();
  },
};

/** A line for somebody who knows nothing of Kubernetes. */
export function progressLine(status: AgentStatus | undefined): string | undefined {
  if (status === undefined) return undefined;
  const { step, state, reason } = status;
  const who = status.agent === 'bootkube' ? 'Preparing the cluster' : 'Writing the disk';
  switch (state) {
    case 'running':
      return step === undefined
        ? `${who}`
        : `${who}: step ${step.number} of ${step.of} (${step.name})`;
    case 'failed':
      return `${who}: FAILED: ${reason ?? 'no reason given'}`;
    case 'stopped':
      return `${who}: stopped`;
    case 'done':
      return `${who}: done`;
    case 'reboot':
      return 'The disk is written. The host restarts into it now; the live medium may be removed.';
  }
}
