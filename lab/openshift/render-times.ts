import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { Failure } from '../../lib/base/errors/failure.ts';
import { waitUntil } from '../../lib/base/wait/wait-until.ts';
import { readJournal } from '../../lib/engine/steps/journal.ts';
import type { RunProgram } from '../../lib/host/named-unit.ts';
import { readRelease } from '../../lib/render/openshift/images.ts';
import { hostPodman } from '../../lib/render/openshift/podman.ts';
import type { Host } from '../host/host.ts';
import { stepJournal } from '../host/wait-for-step.ts';
import { oneAfterAnother } from './one-after-another.ts';

const AGENT = 'bootkube.service';
const REPETITIONS = 3;
const RENDER_MS = 5 * 60_000;
const LOOK_EVERY_MS = 100;

const timesSchema = z.object({ ours: z.array(z.number()), shell: z.array(z.number()) });

/** Seconds of every rendering: the step render, and the shell's way. */
export type RenderTimes = z.infer<typeof timesSchema>;

const timesFile = (out: string): string => join(out, 'render-times.json');

/** What the scenario measured; `out` is its folder in `lab/out`. */
export async function readRenderTimes(out: string): Promise<RenderTimes> {
  return timesSchema.parse(JSON.parse(await readFile(timesFile(out), 'utf8')));
}

/** Renders in turns, by the agent and one stage after another, on a host whose agent is stopped. */
export async function measureRendering(
  host: Host,
  { releaseImage, out }: { readonly releaseImage: string; readonly out: string },
  report: (line: string) => void,
  signal: AbortSignal,
): Promise<RenderTimes> {
  const release = await readRelease(hostPodman(runOn(host)), { releaseImage }, { signal });
  const script = oneAfterAnother(release, join(host.rootDir, 'opt/openshift'));
  const times: RenderTimes = { ours: [], shell: [] };
  for (let turn = 1; turn <= REPETITIONS; turn++) {
    report(`${turn} of ${REPETITIONS}: the agent`);
    times.ours.push(await byAgent(host, signal));
    report(`${turn} of ${REPETITIONS}: one after another`);
    times.shell.push(await byShell(host, script, signal));
  }
  await writeFile(timesFile(out), `${JSON.stringify(times, null, 2)}\n`);
  return times;
}

/** Programs on the host, not in units of their own. */
const runOn =
  (host: Host): RunProgram =>
  async ({ argv, deadlineMs, signal }) => {
    const { exitCode, ...output } = await host.exec(argv, { timeoutMs: deadlineMs }, signal);
    return { exitCode, how: `exit code ${exitCode}`, ...output };
  };

/** Until it has rendered once more. */
async function byAgent(host: Host, signal: AbortSignal): Promise<number> {
  const rendered = async () =>
    (await readJournal(stepJournal(host.rootDir, 'bootkube'))).filter(
      ({ step, event }) => step === 'render' && event === 'done',
    );
  const { length } = await rendered();
  await rm(join(host.rootDir, 'opt/openshift/rendered.json'));
  await systemctl(host, ['start', AGENT], signal);
  const again = async () => {
    const last = (await rendered())[length];
    return last === undefined ? { state: 'the agent has not rendered again' } : { met: last };
  };
  const last = await waitUntil(again, {
    signal,
    deadlineMs: RENDER_MS,
    everyMs: LOOK_EVERY_MS,
    late: ({ state }) => new Failure('deadline', state),
  });
  await stopAgent(host, signal);
  return last.seconds ?? 0;
}

/** With the kubelet, which it may have started already. */
export async function stopAgent(host: Host, signal: AbortSignal): Promise<void> {
  await systemctl(host, ['stop', AGENT, 'kubelet.service'], signal);
}

async function systemctl(host: Host, args: readonly string[], signal: AbortSignal): Promise<void> {
  await host.exec(['systemctl', ...args], { timeoutMs: RENDER_MS }, signal);
}

async function byShell(host: Host, script: string, signal: AbortSignal): Promise<number> {
  const from = performance.now();
  const limits = { timeoutMs: RENDER_MS, input: script };
  const { exitCode, stderr } = await host.exec(['bash', '-s'], limits, signal);
  if (exitCode !== 0) {
    throw new Failure('fatal', 'rendering one stage after another failed', {
      found: stderr.slice(-1000),
    });
  }
  return (performance.now() - from) / 1000;
}
