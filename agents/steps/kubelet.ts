import { mkdir, writeFile } from 'node:fs/promises';
import { Failure } from '../../lib/base/errors/failure.ts';
import type { Wait } from '../../lib/base/wait/limits.ts';
import { type WaitCondition, waitUntil } from '../../lib/base/wait/wait-until.ts';
import { kubeletRequires, workerKubeletRequires } from '../../lib/engine/agents/table.ts';
import type { Progress } from '../../lib/engine/steps/progress.ts';
import { done } from '../../lib/engine/steps/step.ts';
import type { StepBody } from '../../lib/engine/steps/within.ts';
import { removeFile, sha256 } from '../../lib/host/files.ts';
import type { HostPaths } from '../../lib/host/paths.ts';
import {
  enableUnits,
  reloadUnits,
  restartUnit,
  startUnit,
  unitExit,
  unitProperties,
} from '../../lib/host/systemd.ts';
import type { FileUse } from '../../lib/render/hosts.ts';
import { loadRendered } from '../../lib/render/store.ts';
import { Causes, kubeletNeeds } from './causes.ts';
import { podsBeforeApi } from './control-plane.ts';
import type { HostContext, PlainHost } from './host-context.ts';
import { placeStaticPod } from './static-pods.ts';

const HEALTH = 'http://127.0.0.1:10248/healthz';
const HEALTH_INTERVAL_MS = 500;
const ANSWER = 'the kubelet to answer its health endpoint';
const UNIT = 'kubelet.service';
/** Has loaded what modules-load.d names when the host booted. */
const MODULES = 'systemd-modules-load.service';

/**
 * Starts the kubelet standalone, without an API server: it only runs static pods, so no Node of
 * the live stage ever gets into the snapshot.
 */
export const standaloneKubelet: StepBody<HostContext> = {
  name: 'kubelet',
  leaves: 'a standalone kubelet that answers its health endpoint',
  touches: ['disk', 'systemd'],
  retries: true,
  input: (context) => filesOf(context, 'standalone-kubelet'),
  holds: (_context, { signal }) => isHealthy(signal),
  async run({ cluster, paths }, progress) {
    // It has read its configuration before the step render wrote the release's pause image.
    if (cluster.controlPlane === 'openshift') await restartUnit('crio.service', progress.signal);
    await start(paths, progress);
    return done();
  },
};

/**
 * Starts the kubelet with its kubeconfig, once: static pods run before there is an API server, and
 * the Node is registered as soon as there is one. etcd and the API server start with it; the next steps
 * wait for them. Until this step the kubelet's unit and those that it requires are
 * disabled, so that a reboot before it does not start them without their files.
 */
export const nodeKubelet: StepBody<HostContext> = {
  name: 'kubelet',
  leaves: 'a kubelet that starts at every boot and answers its health endpoint',
  touches: ['disk', 'systemd'],
  retries: true,
  input: (context) => filesOf(context, 'node'),
  holds: (_context, { signal }) => isHealthy(signal),
  async run({ paths }, progress) {
    for (const pod of podsBeforeApi(await loadRendered(paths))) await placeStaticPod(paths, pod);
    await enableUnits([...kubeletRequires, UNIT], progress.signal);
    await startPrepared(paths, progress, kubeletRequires);
    return done();
  },
};

/** The same on a worker: no static pods, and only the payload before it. */
export const workerKubelet: StepBody<PlainHost> = {
  name: 'kubelet',
  leaves: 'a kubelet that starts at every boot and answers its health endpoint',
  touches: ['disk', 'systemd'],
  retries: true,
  input: ({ cluster }) => cluster.clusterId,
  holds: (_context, { signal }) => isHealthy(signal),
  async run({ paths }, progress) {
    await enableUnits([...workerKubeletRequires, UNIT], progress.signal);
    await startPrepared(paths, progress, workerKubeletRequires);
    return done();
  },
};

/**
 * Restarts the kubelet's unit. If the kubelet ends at once, systemd starts it again, and whoever waits for what it does is told why
 * (agents/steps/causes.ts).
 */
export async function restartKubeletUnit(signal: AbortSignal): Promise<void> {
  try {
    await restartUnit(UNIT, signal);
  } catch (error) {
    signal.throwIfAborted();
    if ((await unitExit(UNIT, signal).catch(() => undefined)) === undefined) throw error;
  }
}

/** Restarts the kubelet of a node, whose containers keep running, and waits until it answers its health endpoint. */
export async function restartKubelet(paths: HostPaths, progress: Progress): Promise<void> {
  await progress.wait('the kubelet to start', () => restartKubeletUnit(progress.signal));
  await progress.wait(ANSWER, (wait) => healthy(paths, progress, wait, []));
}

/** The same after `nodeKubelet`, without the units that the kubelet requires. */
export const restartPrepared = (paths: HostPaths, progress: Progress): Promise<void> =>
  asPrepared(paths, () => restartKubelet(paths, progress));

async function filesOf({ paths }: HostContext, use: FileUse): Promise<string[]> {
  const { files } = await loadRendered(paths);
  return files.filter(({ uses }) => uses.includes(use)).map(({ contents }) => sha256(contents));
}

/**
 * The units that the kubelet requires verify the payload and renew certificates. Earlier steps have just done
 * both, so these units are skipped at this start (ConditionPathExists=), and run at every other one. The kernel modules
 * that the rendered files name are loaded at every other boot: without br_netfilter, no pod would reach a Service of the node
 * until then.
 */
async function startPrepared(
  paths: HostPaths,
  progress: Progress,
  required: readonly string[],
): Promise<void> {
  await restartUnit(MODULES, progress.signal);
  await asPrepared(paths, () => start(paths, progress, required));
}

async function asPrepared(paths: HostPaths, startKubelet: () => Promise<void>): Promise<void> {
  await mkdir(paths.run, { recursive: true });
  await writeFile(paths.kubeletPrepared, '', { mode: 0o600 });
  try {
    await startKubelet();
  } finally {
    await removeFile(paths.kubeletPrepared);
  }
}

/** `required`: the units without which systemd does not start it. */
async function start(
  paths: HostPaths,
  progress: Progress,
  required: readonly string[] = [],
): Promise<void> {
  await reloadUnits(progress.signal);
  await startUnit(UNIT, progress.signal);
  await progress.wait(ANSWER, (wait) => healthy(paths, progress, wait, required));
}

/** The kubelet's health cannot be watched. Changes of its unit's state are reported, and why it does not run. */
function healthy(
  paths: HostPaths,
  progress: Progress,
  wait: Wait,
  required: readonly string[],
): Promise<void> {
  return waitUntil(answers(new Causes(paths, kubeletNeeds, progress), required), {
    ...wait,
    everyMs: HEALTH_INTERVAL_MS,
    late: ({ state }) =>
      new Failure('deadline', 'the kubelet does not answer its health endpoint', { found: state }),
  });
}

const answers =
  (causes: Causes, required: readonly string[]): WaitCondition<undefined> =>
  async ({ signal }) => {
    if (await isHealthy(signal)) return { met: undefined };
    const { ActiveState, NRestarts } = await unitProperties(
      UNIT,
      ['ActiveState', 'NRestarts'],
      signal,
    );
    // systemd does not start it: one that it requires has failed, or is still running.
    if (ActiveState === 'inactive') await requireNoneFailed(required, signal);
    await causes.look(signal);
    return { state: `${UNIT} is ${ActiveState}, restarted ${NRestarts} times` };
  };

async function requireNoneFailed(units: readonly string[], signal: AbortSignal): Promise<void> {
  for (const unit of units) {
    const { ActiveState } = await unitProperties(unit, ['ActiveState'], signal);
    if (ActiveState !== 'failed') continue;
    throw new Failure('retry', `the kubelet does not start: ${unit} has failed`, {
      fix: `See "journalctl -u ${unit}".`,
    });
  }
}

async function isHealthy(signal: AbortSignal): Promise<boolean> {
  try {
    const answer = await fetch(HEALTH, {
      signal: AbortSignal.any([signal, AbortSignal.timeout(3000)]),
    });
    await answer.body?.cancel();
    return answer.ok;
  } catch {
    return false;
  }
}
