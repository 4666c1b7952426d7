import { Command } from 'commander';
import { runCommandLine, standardOutput } from '../../../lib/base/command-line.ts';
import { EXIT, type ExitCode } from '../../../lib/base/errors/exit-codes.ts';
import { describeError, Failure } from '../../../lib/base/errors/failure.ts';
import { failureFromData } from '../../../lib/base/errors/failure-data.ts';
import type { AgentLogOptions } from '../../../lib/base/log/agent-log.ts';
import { minorOf } from '../../../lib/base/minor.ts';
import { lastText } from '../../../lib/change/ending.ts';
import { beginChange } from '../../../lib/change/exclusion.ts';
import { startAndFollow } from '../../../lib/change/start-and-follow.ts';
import {
  type UpdateRequest,
  type UpdateResult,
  updateChange,
} from '../../../lib/change/update/request.ts';
import { type AskedUpdate, readAsked } from '../../../lib/change/update/wanted.ts';
import { isWorker } from '../../../lib/cluster/workers/paths.ts';
import { type Agent, runAgentCommand } from '../../../lib/engine/steps/agent-command.ts';
import { settingsFor } from '../../../lib/engine/steps/settings-for.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { readSettings } from '../../../lib/host/settings.ts';
import { plainHost } from '../../steps/host-context.ts';
import { acceptUpdate, type UpdateOrder } from './accept.ts';
import { prepareUpdate } from './again.ts';
import { failed, stillEmulates } from './conclude.ts';
import { describeUpdate, updateContext, workerUpdateContext } from './context.ts';
import { changedMinors, databaseGoesBack } from './database.ts';
import { updatePlan } from './plan.ts';
import { takeUp } from './take-up.ts';
import { prepareWorkerUpdate } from './worker/again.ts';
import { isCordoned } from './worker/obstacles.ts';
import { workerUpdatePlan } from './worker/plan.ts';

const PREPARE_MS = 120_000;
const ACCEPT_MS = 300_000;

type Write = (text: string) => void;

/**
 * The command line of sno-update: the common one, `run --from` and `prepare`. `run` without an option is what the
 * unit runs; `run --from` requests an update and has the unit do it. Returns the exit code.
 */
export async function runUpdate(
  paths: HostPaths,
  args: readonly string[],
  output: AgentLogOptions = {},
): Promise<number> {
  const { write = standardOutput.write } = output;
  if (
    args[0] === 'run' &&
    args.some((arg) => /^(--(from|no-wait|accept-removed-apis|help)\b|-h$)/.test(arg))
  ) {
    return requested(paths, args, write);
  }
  if (args[0] === TAKE_UP) return takeUpWanted(paths, write);
  const { settings, fault } = await settingsFor(paths, args, ['prepare']);
  const common: Omit<Agent<never>, 'plan' | 'context'> = {
    paths,
    settingsFault: fault,
    about: async () => {
      const last = await updateChange.last(paths);
      const asked = await readAsked(paths);
      const text = `${last === undefined ? '' : endedText(last)}${askedText(asked)}`;
      return { text, data: { last: last ?? null, asked: asked ?? null } };
    },
    addCommands: (program, writeOut) => {
      program.addHelpText('after', `\n${HOW_TO_UPDATE}`);
      addPrepare(program, paths, writeOut);
    },
  };
  if (await isWorker(paths)) {
    const context = () => workerUpdateContext(paths);
    const plan = workerUpdatePlan(settings);
    return runAgentCommand({ ...common, plan, context }, args, output);
  }
  const context = () => updateContext(paths);
  return runAgentCommand({ ...common, plan: updatePlan(settings), context }, args, output);
}

const HOW_TO_UPDATE =
  '"sno-update run --from FOLDER|URL" updates this host; "sno-update run --help" has its options.';

/** What the unit runs first: whether there is an update to be carried out, perhaps one that a hub asks for. */
const TAKE_UP = 'take-up';

async function takeUpWanted(paths: HostPaths, write: Write): Promise<number> {
  const { isRequested, said } = await takeUp(paths, AbortSignal.timeout(ACCEPT_MS));
  if (said !== undefined) write(`${said}\n`);
  return isRequested ? EXIT.done : NOTHING_TO_DO;
}

/** For ExecCondition: the unit is left out, and has not failed. */
const NOTHING_TO_DO = 1;

interface RunOptions {
  from: string;
  wait: boolean;
  acceptRemovedApis?: boolean;
}

async function requested(
  paths: HostPaths,
  args: readonly string[],
  write: Write,
): Promise<ExitCode> {
  const program = new Command('sno-update').exitOverride();
  program
    .command('run')
    .description('update this host, and go back if it does not settle')
    .requiredOption('--from <folder-or-url>', 'what "sno create update" has written')
    .option('--no-wait', 'do not wait for its end')
    .option('--accept-removed-apis', 'nothing uses the APIs any more that the update removes')
    .action(async ({ from, wait, acceptRemovedApis }: RunOptions) => {
      const order = { from, accepted: { removedApis: acceptRemovedApis === true } };
      await update(paths, { order, wait }, write);
    });
  return runCommandLine(program, args, () => EXIT.done);
}

async function update(
  paths: HostPaths,
  { order, wait }: { readonly order: UpdateOrder; readonly wait: boolean },
  write: Write,
): Promise<void> {
  const { from } = order;
  // Invalid settings are an error for a person; the unit itself continues with the defaults.
  await readSettings(paths);
  let request = await updateChange.read(paths);
  const isContinued = request !== undefined;
  if (request === undefined) {
    request = await acceptUpdate(paths, order, AbortSignal.timeout(ACCEPT_MS));
    if (request === undefined) {
      write('This host runs it already.\n');
      return;
    }
    write((await isWorker(paths)) ? await drainOf(paths, request) : wayBackOf(request));
    const accepted = request;
    await beginChange(paths, () => updateChange.write(paths, accepted));
    write(`Begun: ${describeUpdate(request)}, signed by ${request.signedBy}.\n`);
  } else if (request.from === from) {
    write(`Continued: ${describeUpdate(request)}.\n`);
  } else {
    throw new Failure('usage', `${describeUpdate(request)} is under way`, {
      fix: 'Wait for its end: see "sno-update status".',
    });
  }
  const { id } = request;
  const begun = {
    agent: 'sno-update',
    what: 'the update',
    isContinued,
    isWaited: wait,
    isIts: (ended: UpdateResult) => ended.id === id,
  };
  const result = await startAndFollow(updateChange, paths, begun, write);
  if (result === undefined) return;
  if (result.outcome !== 'updated') throw failed(result, result.outcome, result.failure);
  if (result.failure !== undefined) throw stillEmulates(result, result.failure);
  write(lastText(describeUpdate(result), result));
}

/** What a way back loses, before anything begins. */
function wayBackOf(request: UpdateRequest): string {
  if (databaseGoesBack(request)) {
    return `If it is taken back, etcd is restored from a backup that is made first: what is written to the cluster
after that, by people and by workloads, is lost then.
`;
  }
  if (!changedMinors(request).includes('kubernetes')) return '';
  return `Until it is confirmed, the control plane behaves as Kubernetes ${minorOf(request.before?.kubernetes ?? '')}: nothing that is
written to the cluster is lost if it is taken back.
`;
}

/** Of a worker, whose pods may go to other nodes. */
async function drainOf(paths: HostPaths, request: UpdateRequest): Promise<string> {
  if (!changedMinors(request).includes('kubernetes')) return '';
  const host = await plainHost(paths);
  if (await isCordoned(host, AbortSignal.timeout(ACCEPT_MS))) return '';
  const name = host.hostname();
  return `Pods of this node keep running. Kubernetes asks that a node is drained before its kubelet gets another minor version:
"kubectl drain ${name} --ignore-daemonsets" before, and "kubectl uncordon ${name}" afterwards.
`;
}

/** Called by the release before it, never by people. */
function addPrepare(program: Command, paths: HostPaths, write: Write): void {
  program
    .command('prepare', { hidden: true })
    .requiredOption('--payload <folder>')
    .requiredOption('--executable <file>')
    .action(async ({ payload, executable }: { payload: string; executable: string }) => {
      const signal = AbortSignal.timeout(PREPARE_MS);
      const prepared = await ((await isWorker(paths)) ? prepareWorkerUpdate : prepareUpdate)(
        paths,
        { payloadFolder: payload, executable },
        signal,
      );
      write(`${JSON.stringify(prepared)}\n`);
    });
}

/** Of an update that a hub asks for, which is none. */
function askedText(asked: AskedUpdate | undefined): string {
  if (asked?.failure === undefined) return '';
  const how = asked.outcome === 'waiting' ? 'waits' : 'was refused';
  const why = describeError(failureFromData(asked.failure));
  return `what a hub asks for ${how}: ${why}, ${asked.at}\n`;
}

function endedText(result: UpdateResult): string {
  if (result.outcome === 'updated' && result.failure !== undefined) {
    return `last: ${describeError(stillEmulates(result, result.failure))}, ${result.endedAt}\n`;
  }
  return lastText(describeUpdate(result), result);
}
