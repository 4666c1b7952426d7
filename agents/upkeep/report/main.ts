import { EXIT, type ExitCode } from '../../../lib/base/errors/exit-codes.ts';
import type { AgentLogOptions } from '../../../lib/base/log/agent-log.ts';
import { reportToPath } from '../../../lib/engine/report/read-report-to.ts';
import { runAgent } from '../../../lib/engine/steps/agent-command.ts';
import { exists } from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { expectShortRun } from '../../../lib/host/short-run.ts';
import { reportContext } from './context.ts';
import { reportPlan } from './plan.ts';
import { readLastState } from './state.ts';

/** The command line of sno-report: the common one. Returns the exit code. */
export async function runReport(
  paths: HostPaths,
  args: readonly string[],
  output: AgentLogOptions = {},
): Promise<ExitCode> {
  expectShortRun();
  return runAgent(paths, args, output, (settings) => ({
    plan: reportPlan(settings),
    context: () => reportContext(paths),
    about: () => aboutReports(paths),
    // It stays for a while after its report, and is stopped with the host: no unit has failed then.
    exitWhenStopped: EXIT.done,
  }));
}

/** What `status` says besides the step. */
async function aboutReports(paths: HostPaths): Promise<{ text: string; data: object }> {
  const { accepted, refused, unanswered } = (await readLastState(paths)) ?? {};
  const lines = [
    ...((await exists(reportToPath(paths)))
      ? []
      : ['this host does not report: it has no /etc/sno-agents/report-to.json']),
    accepted === undefined
      ? 'no report was accepted yet'
      : `accepted last: number ${accepted.report.sequence}, ${accepted.at}`,
    ...(refused === undefined ? [] : [`refused ${refused.at}: ${refused.why}`]),
    ...(unanswered === undefined ? [] : [`no answer since ${unanswered.since}: ${unanswered.why}`]),
  ];
  const data = {
    accepted: accepted ?? null,
    refused: refused ?? null,
    unanswered: unanswered ?? null,
  };
  return { text: `${lines.join('\n')}\n`, data };
}
