import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { standardOutput } from '../../lib/base/command-line.ts';
import { ENDING_AGENTS, installingAgents } from '../../lib/engine/agents/table.ts';
import { otherConsoles } from '../../lib/engine/console/other-consoles.ts';
import { progressLine } from '../../lib/engine/console/progress-line.ts';
import { statusPath } from '../../lib/engine/steps/reporter.ts';
import { readStatus } from '../../lib/engine/steps/status.ts';
import { done } from '../../lib/engine/steps/step.ts';
import type { StepBody } from '../../lib/engine/steps/within.ts';
import { exists } from '../../lib/host/files.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import { waitForFiles } from '../../lib/host/watch.ts';
import type { HostContext } from '../steps/host-context.ts';

/**
 * Shows each change of an agent's state as one line: on the live host until the disk is
 * installed, on any other host until the installation is complete. The unit connects standard
 * error to /dev/console, and the log to the journal; the lines are shown on all other consoles, too.
 */
export const showProgress = (
  write: (line: string) => void = standardOutput.writeError,
): StepBody<HostContext> => ({
  name: 'show-progress',
  leaves: 'the state of the installation on the console',
  touches: [],
  retries: true,
  // The agent that ends the installation removes it together with its own.
  removesState: true,
  input: ({ cluster }) => cluster.clusterId,
  holds: ({ paths }) => isOver(paths),
  async run({ paths }, progress) {
    const files = [...installingAgents.live, ...installingAgents.installed].map(({ name }) =>
      statusPath(paths, name),
    );
    // Each agent creates its own folder later; a missing folder cannot be watched reliably.
    await Promise.all(files.map((file) => mkdir(dirname(file), { recursive: true })));
    const shown = new Map<string, string>();
    const others = await otherConsoles(paths);
    const show = async () => {
      // Checked first: the last line must be shown before this ends.
      const isLast = await isOver(paths);
      for (const file of files) {
        const line = progressLine(await readStatus(file));
        if (line === undefined || shown.get(file) === line) continue;
        shown.set(file, line);
        write(`${line}\n`);
        others.write(`${line}\n`);
      }
      return isLast;
    };
    await progress
      .wait('the installation', () =>
        waitForFiles([...files, paths.installDone], show, {
          signal: progress.signal,
          deadlineMs: progress.remainingMs(),
          describe: () => 'the installation to end on this host',
        }),
      )
      .finally(others.close);
    return done();
  },
});

/** Decided by the status, which is written after everything else. */
async function isOver(paths: HostPaths): Promise<boolean> {
  for (const agent of ENDING_AGENTS) {
    if ((await readStatus(statusPath(paths, agent)))?.state === 'done') return true;
  }
  return exists(paths.installDone);
}
