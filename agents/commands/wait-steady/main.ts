import { Command } from 'commander';
import {
  type CommandOutput,
  runCommandLine,
  standardOutput,
} from '../../../lib/base/command-line.ts';
import { parseDuration } from '../../../lib/base/duration.ts';
import { EXIT, type ExitCode } from '../../../lib/base/errors/exit-codes.ts';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { KubeClient } from '../../../lib/clients/kube/client.ts';
import { isKubeError } from '../../../lib/clients/kube/kube-error.ts';
import { STEADY } from '../../../lib/clients/rights/steady.ts';
import { LEADER_LEASES } from '../../../lib/cluster/steady/leases.ts';
import { steadyMetrics } from '../../../lib/cluster/steady/metrics.ts';
import { scheduledShutdown } from '../../../lib/cluster/steady/planned-restart.ts';
import { publishVerdict } from '../../../lib/cluster/steady/publish.ts';
import { type SteadyVerdict, verdictText } from '../../../lib/cluster/steady/verdict.ts';
import { waitSteady } from '../../../lib/cluster/steady/wait.ts';
import { writeMetrics } from '../../../lib/engine/metrics/write.ts';
import { bootMoment } from '../../../lib/host/boot.ts';
import type { HostPaths } from '../../../lib/host/paths.ts';
import { readSettings } from '../../../lib/host/settings.ts';
import { signedAccess } from '../../../lib/render/signed-access.ts';
import { type PlainHost, plainHost } from '../../steps/host-context.ts';

const PUBLISH_MS = 15_000;
/** The certificate outlives the wait by the time that the verdict needs. */
const MARGIN_MS = 5 * 60_000;

interface Options {
  readonly for: string;
  readonly timeout: string;
  readonly json?: boolean;
}

/**
 * `wait-steady [--for 2m] [--timeout 40m] [--json]`. Returns the exit code: 0 steady; 3 something moved until the
 * timeout; 1 the evidence was missing until then.
 */
export async function runWaitSteady(
  paths: HostPaths,
  args: readonly string[],
  output: CommandOutput = standardOutput,
): Promise<ExitCode> {
  const { write, writeError } = output;
  let code: ExitCode = EXIT.retryable;
  const program = new Command('wait-steady')
    .description('wait until nothing of this host and its cluster changes, and say what moves')
    .exitOverride()
    .option('--for <duration>', 'how long nothing may change', '2m')
    .option('--timeout <duration>', 'how long to wait for that', '40m')
    .option('--json', 'print the last verdict for programs')
    .action(async (options: Options) => {
      const windowMs = parseDuration('--for', options.for);
      const deadlineMs = parseDuration('--timeout', options.timeout);
      expectRoom(options, windowMs, deadlineMs);
      const isJson = options.json === true;
      const report = (text: string) => (isJson ? undefined : write(`${text}\n`));
      const host = { ...(await plainHost(paths)), settings: await readSettings(paths) };
      const verdict = await judged(host, { windowMs, deadlineMs, report });
      const warn = (text: string) => writeError(`wait-steady: ${text}\n`);
      await writeMetrics(host, 'sno-steady', async () => steadyMetrics(verdict), warn);
      if (isJson) write(`${JSON.stringify(verdict, null, 2)}\n`);
      code = exitCodeOf(verdict);
      if (code !== EXIT.done && !isJson) {
        writeError(`wait-steady: not steady within ${options.timeout}. ${verdictText(verdict)}\n`);
      }
    });
  return runCommandLine(program, args, () => code, output);
}

function expectRoom(options: Options, windowMs: number, deadlineMs: number): void {
  if (windowMs < deadlineMs) return;
  throw new Failure('usage', '--timeout must be longer than --for', {
    expected: `more than ${options.for}`,
    found: options.timeout,
  });
}

const exitCodeOf = ({ state }: SteadyVerdict): ExitCode =>
  state === 'steady' ? EXIT.done : state === 'unknown' ? EXIT.retryable : EXIT.deadline;

interface Judging {
  readonly windowMs: number;
  readonly deadlineMs: number;
  readonly report: (text: string) => void;
}

async function judged(host: PlainHost, judging: Judging): Promise<SteadyVerdict> {
  const { paths, cluster, hostname } = host;
  const { controlPlane } = cluster;
  const stop = new AbortController();
  const { signal } = stop;
  const onSignal = (name: NodeJS.Signals) => stop.abort(new Failure('retry', `ended by ${name}`));
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, onSignal);
  try {
    const access = await signedAccess(controlPlane, paths, STEADY, judging.deadlineMs + MARGIN_MS);
    using client = new KubeClient(access);
    const [bootTime, { boot: bootId }] = await Promise.all([host.bootTime(signal), bootMoment()]);
    const subject = { nodeName: hostname(), bootTime, leases: LEADER_LEASES[controlPlane] };
    const scheduled = () => scheduledShutdown(paths);
    const verdict = await waitSteady(client, subject, { ...judging, bootId, scheduled, signal });
    await publish(client, verdict, signal);
    return verdict;
  } finally {
    for (const name of ['SIGTERM', 'SIGINT'] as const) process.removeListener(name, onSignal);
  }
}

/** The verdict counts also where the API cannot record it. */
async function publish(
  client: KubeClient,
  verdict: SteadyVerdict,
  signal: AbortSignal,
): Promise<void> {
  try {
    await publishVerdict(client, verdict, { signal, deadlineMs: PUBLISH_MS });
  } catch (error) {
    if (!isKubeError(error)) throw error;
  }
}
