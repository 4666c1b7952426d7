import type { Command } from 'commander';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { failureData, failureSentence } from '../../../lib/base/errors/failure-data.ts';
import type { AgentLogOptions } from '../../../lib/base/log/agent-log.ts';
import { runAgent } from '../../../lib/engine/steps/agent-command.ts';
import { confirmTrial, revertTrial } from '../../../lib/engine/trial/arm.ts';
import { judgeTrial, withBoot } from '../../../lib/engine/trial/judge.ts';
import { readTrial, readTrialState } from '../../../lib/engine/trial/store.ts';
import type { EndedTrial } from '../../../lib/engine/trial/trial.ts';
import { bootMoment } from '../../../lib/host/boot.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { restartHost } from '../../../lib/host/restart-host.ts';
import { trialContext } from './context.ts';
import { trialPlan } from './plan.ts';

type Write = (text: string) => void;

const COMMAND_MS = 300_000;

/** The command line of sno-trial: the common one, `confirm` and `revert`; `status` also says what is on trial. */
export async function runTrial(
  paths: HostPaths,
  args: readonly string[],
  output: AgentLogOptions = {},
): Promise<number> {
  return runAgent(paths, args, output, (settings) => ({
    plan: trialPlan(settings),
    context: () => trialContext(paths),
    reboot: restartHost,
    about: () => trialReport(paths),
    addCommands: (program, write) => {
      addConfirm(program, paths, write);
      addRevert(program, paths, write);
    },
  }));
}

function addConfirm(program: Command, paths: HostPaths, write: Write): void {
  program
    .command('confirm')
    .description('keep the change that is on trial: the host no longer goes back')
    .action(async () => {
      const { what } = await confirmTrial(paths, AbortSignal.timeout(COMMAND_MS));
      write(`${what} is confirmed.\n`);
    });
}

function addRevert(program: Command, paths: HostPaths, write: Write): void {
  program
    .command('revert')
    .description('take the change back that is on trial: restarts the host')
    .action(async () => {
      const trial = await readTrial(paths);
      if (trial === undefined) throw new Failure('usage', 'nothing is on trial');
      const reason = failureData(new Failure('usage', 'it was taken back by "sno-trial revert"'));
      write(`The host restarts and takes ${trial.what} back.\n`);
      await revertTrial(paths, reason, AbortSignal.timeout(COMMAND_MS));
    });
}

/** What is on trial, and how the last trial ended: as text, and for programs. */
async function trialReport(paths: HostPaths): Promise<{ text: string; data: object }> {
  const state = await readTrialState(paths);
  const now = await bootMoment();
  const last = state.last === undefined ? '' : lastText(state.last);
  const data = { trial: state.trial ?? null, last: state.last ?? null };
  if (state.trial === undefined) return { text: `nothing is on trial\n${last}`, data };
  const { what, armedAt } = state.trial;
  const verdict = judgeTrial({ ...state, trial: withBoot(state.trial, now) }, now);
  switch (verdict.kind) {
    case 'goes-on': {
      const minutes = Math.ceil(verdict.leftMs / 60_000);
      const text = `${what} is on trial since ${armedAt}: taken back in ${minutes} min, or after ${verdict.bootsLeft + 1} more restarts, unless it is confirmed\n`;
      return { text: `${text}${last}`, data };
    }
    case 'revert':
      return { text: `${what} is being taken back: ${failureSentence(verdict.reason)}\n`, data };
    default:
      return { text: last, data };
  }
}

function lastText({ what, outcome, endedAt, reason, problems }: EndedTrial): string {
  const how = {
    confirmed: 'confirmed',
    reverted: 'taken back',
    incomplete: 'taken back incompletely',
  }[outcome];
  const why = reason === undefined ? '' : `: ${failureSentence(reason)}`;
  const parts = problems.map(
    ({ part, failure }) => `  not put back: ${part}: ${failureSentence(failure)}\n`,
  );
  return `last: ${what} was ${how} at ${endedAt}${why}\n${parts.join('')}`;
}
