import { Command } from 'commander';
import { runCommandLine, standardOutput } from '../../base/command-line.ts';
import { EXIT, type ExitCode, exitCodeFor } from '../../base/errors/exit-codes.ts';
import { describeError, type Failure } from '../../base/errors/failure.ts';
import { failureData } from '../../base/errors/failure-data.ts';
import { asFailure } from '../../base/errors/unexpected.ts';
import { type AgentLogOptions, type EventLog, openAgentLog } from '../../base/log/agent-log.ts';
import { failureFields } from '../../base/log/failure-fields.ts';
import type { Logger } from '../../base/log/logger.ts';
import { bootMoment } from '../../host/boot.ts';
import type { HostPaths } from '../../host/paths.ts';
import type { Settings } from '../../host/settings.ts';
import { Journal, readJournal } from './journal.ts';
import { isLocked, lockAgent } from './lock.ts';
import { planText, statusText } from './print.ts';
import { Reporter, type ReporterOptions, statusPath } from './reporter.ts';
import { PlanRunner, type RunRange } from './runner.ts';
import { settingsFor, settingsNotice } from './settings-for.ts';
import { type AgentStatus, readStatus } from './status.ts';
import type { Plan } from './step.ts';

export interface RunOption {
  /** In commander's notation, such as `--hours <n>`. */
  readonly flags: string;
  readonly description: string;
}

/** The options given to `run`, by their names in camel case. */
export type RunOptions = RunRange & Readonly<Record<string, unknown>>;

/** A run that was not stopped from outside. */
export interface EndedRun {
  readonly isDone: boolean;
  readonly at: Date;
  /** Logs what could not be published. */
  readonly warn: (text: string) => void;
}

export interface Agent<Context> {
  readonly plan: Plan<Context>;
  readonly paths: HostPaths;
  /** Options of `run` that are specific to this agent. */
  readonly runOptions?: readonly RunOption[];
  /** What `status` says besides the steps: as text, and for programs. */
  readonly about?: () => Promise<{ readonly text: string; readonly data: object }>;
  /** Adds commands besides those that every agent has; `write` receives their output. */
  readonly addCommands?: (program: Command, write: (text: string) => void) => void;
  /** What is wrong with the settings that the plan is from (lib/engine/steps/settings-for.ts). */
  readonly settingsFault?: Failure | undefined;
  /** Reads the host and the configuration; called while the agent holds its lock. */
  context(log: Logger, options: RunOptions): Promise<Context>;
  /**
   * Publishes figures about a run that has ended by itself, whatever its result. Must not throw: the result stays
   * what it is.
   */
  readonly measure?: (ended: EndedRun) => Promise<void>;
  /** How long it takes, and who else sees its state. */
  readonly reporting?: ReporterOptions;
  /** The exit code of a run that is told to stop. Default: 1, since it has not done its work. */
  readonly exitWhenStopped?: ExitCode;
  /** Called when a step requested a reboot; returns when `stop` has aborted for it. */
  reboot?(stop: AbortSignal, warn: (text: string) => void): Promise<void>;
}

/** The command line of an agent that is made from the settings of its host. Returns the exit code. */
export async function runAgent<Context>(
  paths: HostPaths,
  args: readonly string[],
  output: AgentLogOptions,
  agentOf: (settings: Settings) => Omit<Agent<Context>, 'paths' | 'settingsFault'>,
): Promise<ExitCode> {
  const { settings, fault } = await settingsFor(paths, args);
  return runAgentCommand({ ...agentOf(settings), paths, settingsFault: fault }, args, output);
}

/**
 * The command line of every agent: `plan`, `run`, `status`. Returns the exit code.
 * `output` receives all output; by default the journal or standard output.
 */
export async function runAgentCommand<Context>(
  agent: Agent<Context>,
  args: readonly string[],
  output: AgentLogOptions = {},
): Promise<ExitCode> {
  const { write = standardOutput.write } = output;
  let code: ExitCode = EXIT.done;
  const program = new Command(agent.plan.agent).description(agent.plan.purpose).exitOverride();
  program
    .command('plan')
    .description('print the steps, their deadlines and their results')
    .action(() => write(planText(agent.plan)));
  const runCommand = program
    .command('run')
    .description('run the plan, or resume it where it was interrupted')
    .option('--from <step>', 'begin with this step, regardless of the journal')
    .option('--until <step>', 'stop after this step')
    .action(async (options: RunOptions) => {
      code = await runPlan(agent, options, output);
    });
  for (const { flags, description } of agent.runOptions ?? []) {
    runCommand.option(flags, description);
  }
  program
    .command('status')
    .description('print the status of the agent')
    .option('--json', 'for programs')
    .action(async ({ json }: { json?: boolean }) => {
      write(await statusOf(agent, json === true));
    });
  agent.addCommands?.(program, write);
  return runCommandLine(program, args, () => code);
}

export function journalPath(paths: HostPaths, agent: string): string {
  return `${paths.state}/${agent}/journal.jsonl`;
}

async function statusOf<Context>(
  { plan, paths, about, settingsFault }: Agent<Context>,
  json: boolean,
): Promise<string> {
  const notice = settingsFault === undefined ? undefined : settingsNotice(settingsFault);
  const status = await currentStatus(paths, plan.agent);
  const entries = await readJournal(journalPath(paths, plan.agent));
  const more = await about?.();
  if (json) {
    const data = { status: status ?? null, journal: entries, notice, ...more?.data };
    return `${JSON.stringify(data, null, 2)}\n`;
  }
  const text = `${statusText(plan, status, entries)}${more?.text ?? ''}`;
  return notice === undefined ? text : `${text}Notice: ${notice}\n`;
}

/** The status file, corrected for a killed agent, which could not retract its `running`. */
async function currentStatus(paths: HostPaths, agent: string): Promise<AgentStatus | undefined> {
  const status = await readStatus(statusPath(paths, agent));
  if (status?.state !== 'running' || (await isLocked(agent, paths.root))) return status;
  const where = status.step === undefined ? '' : ` in step ${status.step.name}`;
  const reason = `its process was killed${where}; it resumes there when it is started again`;
  return { ...status, state: 'stopped', reason };
}

async function runPlan<Context>(
  agent: Agent<Context>,
  options: RunOptions,
  output: AgentLogOptions,
): Promise<ExitCode> {
  const { plan, paths } = agent;
  const { log, events } = openAgentLog(plan.agent, output);
  using _lock = await lockAgent(plan.agent, paths.root);
  const reporter = new Reporter(plan, paths, agent.reporting);
  using stopping = stopOnSignals();
  const stop = stopping.signal;
  await reporter.agentBegins();
  await events.event('agent-started', `${plan.unit}: started`, { steps: plan.steps.length });
  if (agent.settingsFault !== undefined) log.warn(settingsNotice(agent.settingsFault));
  try {
    const journal = await Journal.open(journalPath(paths, plan.agent));
    const context = await agent.context(log, options);
    const runner = new PlanRunner(plan, context, {
      journal,
      log,
      events,
      reporter,
      clock: bootMoment,
      stop,
    });
    const result = await runner.run(options);
    if (result.kind === 'reboot') {
      await events.event('host-restart', `Restarting the host: ${result.reason}`);
      await reporter.agentEnds('reboot', EXIT.done, result.reason);
      await agent.reboot?.(stop, (text) => log.warn(text));
      return EXIT.done;
    }
    await events.event('agent-done', `${plan.unit}: ${plan.achieved ?? 'everything is done'}`);
    await reporter.agentEnds('done', EXIT.done);
    await agent.measure?.(endedRun(EXIT.done, log));
    return EXIT.done;
  } catch (error) {
    const code = await endWith(error, { agent, events, reporter, stop });
    if (!stop.aborted) await agent.measure?.(endedRun(code, log));
    return code;
  }
}

const endedRun = (code: ExitCode, log: Logger): EndedRun => ({
  isDone: code === EXIT.done,
  at: new Date(),
  warn: (text) => log.warn(text),
});

async function endWith<Context>(
  error: unknown,
  run: { agent: Agent<Context>; events: EventLog; reporter: Reporter; stop: AbortSignal },
): Promise<ExitCode> {
  const { events, reporter, stop } = run;
  const { plan, exitWhenStopped = EXIT.retryable } = run.agent;
  if (stop.aborted) {
    const sentence = `${plan.unit}: told to stop; it resumes here when it is started again`;
    await events.event('agent-stopped', sentence);
    await reporter.agentEnds('stopped', exitWhenStopped, 'told to stop');
    return exitWhenStopped;
  }
  const failure = asFailure(error);
  const code = exitCodeFor(failure);
  await events.event('agent-failed', `${plan.unit} failed: ${describeError(failure)}`, {
    step: reporter.step,
    exit: code,
    ...failureFields(failureData(failure)),
  });
  await reporter.agentEnds('failed', code, failure);
  return code;
}

function stopOnSignals(): Disposable & { readonly signal: AbortSignal } {
  const controller = new AbortController();
  const names = ['SIGTERM', 'SIGINT'] as const;
  const stop = (name: NodeJS.Signals) => controller.abort(new Error(`stopped by ${name}`));
  for (const name of names) process.once(name, stop);
  return {
    signal: controller.signal,
    [Symbol.dispose]: () => {
      for (const name of names) process.removeListener(name, stop);
    },
  };
}
