import { isDeepStrictEqual } from 'node:util';
import type { Command } from 'commander';
import { EXIT, type ExitCode } from '../../../lib/base/errors/exit-codes.ts';
import { Failure } from '../../../lib/base/errors/failure.ts';
import type { AgentLogOptions } from '../../../lib/base/log/agent-log.ts';
import { beginChange } from '../../../lib/change/exclusion.ts';
import { presentIdentity } from '../../../lib/change/identity/present-identity.ts';
import { ON_ADDRESS_CHANGE } from '../../../lib/config/cluster/cluster.ts';
import { clusterPath, clusterText, readCluster } from '../../../lib/config/cluster/read-cluster.ts';
import { writeMetrics } from '../../../lib/engine/metrics/write.ts';
import { runAgent } from '../../../lib/engine/steps/agent-command.ts';
import { statusPath } from '../../../lib/engine/steps/reporter.ts';
import { readStatus } from '../../../lib/engine/steps/status.ts';
import { exists, writeFilesAtomic } from '../../../lib/host/files.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { expectShortRun } from '../../../lib/host/short-run.ts';
import { startUnit } from '../../../lib/host/systemd.ts';
import {
  readRenderInput,
  renderInputPath,
  renderInputText,
} from '../../../lib/render/render-input.ts';
import { addressContext, judgeHost } from './context.ts';
import { addressMetrics } from './metrics.ts';
import { followAddressPlan } from './plan.ts';
import { readState } from './state.ts';

const AGENT = 'sno-address';
const COMMAND_MS = 60_000;

type Write = (text: string) => void;

/**
 * The command line of sno-address: the common one, `set`, and `needed`, with which its unit decides whether to run.
 * Returns the exit code.
 */
export async function runAddress(
  paths: HostPaths,
  args: readonly string[],
  output: AgentLogOptions = {},
): Promise<ExitCode> {
  expectShortRun();
  // systemd takes 1 for "not needed", and an error is reported by the run.
  if (args[0] === 'needed') return (await isNeeded(paths)) ? EXIT.done : EXIT.retryable;
  return runAgent(paths, args, output, (settings) => ({
    plan: followAddressPlan(settings),
    context: () => addressContext(paths),
    about: () => addressReport(paths),
    measure: ({ warn }) =>
      writeMetrics(
        { paths, settings },
        AGENT,
        async () => addressMetrics(await readState(paths)),
        warn,
      ),
    addCommands: (program, write) => addSet(program, paths, write),
  }));
}

/** Not before the end of the installation, and not while the host has its addresses where they were, and has said so in this boot. */
async function isNeeded(paths: HostPaths): Promise<boolean> {
  try {
    if (!(await exists(paths.record))) return false;
    if ((await readStatus(statusPath(paths, AGENT)))?.state !== 'done') return true;
    const verdict = await judgeHost(await addressContext(paths), AbortSignal.timeout(COMMAND_MS));
    const { interfaces } = await readState(paths);
    return verdict.kind !== 'kept' || !isDeepStrictEqual(verdict.interfaces, interfaces);
  } catch {
    return true;
  }
}

async function addressReport(paths: HostPaths): Promise<{ text: string; data: object }> {
  const { last, interfaces } = await readState(paths);
  const { onAddressChange = 'stop' } = await readCluster(paths);
  const mode = `when its address moves, this host ${onAddressChange === 'follow' ? 'follows' : 'changes nothing'} (onAddressChange: ${onAddressChange})\n`;
  const data = { onAddressChange, interfaces, last: last ?? null };
  if (last === undefined) return { text: mode, data };
  const where = last.isMoved ? `; the host has ${last.found}` : '';
  return { text: `addresses of the Node: ${last.registered}${where}\n${mode}`, data };
}

function addSet(program: Command, paths: HostPaths, write: Write): void {
  program
    .command('set')
    .description('say what this host does when its address moves')
    .argument('<mode>', ON_ADDRESS_CHANGE.join(' or '))
    .action(async (given: string) => {
      const mode = ON_ADDRESS_CHANGE.find((each) => each === given);
      if (mode === undefined) {
        throw new Failure('usage', 'there is no such mode', {
          expected: ON_ADDRESS_CHANGE.join(' or '),
          found: given,
        });
      }
      await presentIdentity(paths);
      await beginChange(paths, () => writeMode(paths, mode));
      write(`onAddressChange is ${mode}.\n`);
      await startUnit(`${AGENT}.service`, AbortSignal.timeout(COMMAND_MS));
    });
}

/** In the description of the cluster, and in the copy from which a change of the identity writes it again. */
async function writeMode(
  paths: HostPaths,
  onAddressChange: (typeof ON_ADDRESS_CHANGE)[number],
): Promise<void> {
  const cluster = { ...(await readCluster(paths)), onAddressChange };
  const input = await readRenderInput(paths);
  const copies =
    input === undefined
      ? []
      : [
          {
            path: renderInputPath(paths),
            contents: renderInputText({ ...input, cluster: { ...input.cluster, onAddressChange } }),
            mode: 0o600,
          },
        ];
  const contents = clusterText(cluster);
  await writeFilesAtomic([{ path: clusterPath(paths), contents, mode: 0o600 }, ...copies]);
}
