import { setTimeout as sleep } from 'node:timers/promises';
import { sha256 } from '../../lib/host/files.ts';
import { reloadUnits, startUnit, unitProperties } from '../../lib/host/systemd.ts';
import { loadRendered } from '../../lib/render/store.ts';
import type { Progress } from '../../lib/steps/progress.ts';
import { done } from '../../lib/steps/step.ts';
import type { StepBody } from '../../lib/steps/within.ts';
import type { HostContext } from './host-context.ts';

const HEALTH = 'http://127.0.0.1:10248/healthz';
const HEALTH_INTERVAL_MS = 500;

/**
 * Starts the kubelet standalone, without an API server: it only runs static pods, so no Node of
 * the live stage ever gets into the snapshot.
 */
export const kubelet: StepBody<HostContext> = {
  name: 'kubelet',
  leaves: 'a standalone kubelet that answers its health endpoint',
  retries: true,
  neededUntil: 'stop-etcd',
  async input({ paths }) {
    const { files } = await loadRendered(paths);
    return files
      .filter(({ uses }) => uses.includes('standalone-kubelet'))
      .map(({ contents }) => sha256(contents));
  },
  holds: (_context, { signal }) => isHealthy(signal),
  async run(_context, progress) {
    await reloadUnits(progress.signal);
    await startUnit('kubelet.service', progress.signal);
    await progress.wait('the kubelet to answer its health endpoint', () => healthy(progress));
    return done();
  },
};

/** The kubelet's health cannot be watched. Changes of its unit's state are reported. */
async function healthy(progress: Progress): Promise<void> {
  while (!(await isHealthy(progress.signal))) {
    const { ActiveState, NRestarts } = await unitProperties(
      'kubelet.service',
      ['ActiveState', 'NRestarts'],
      progress.signal,
    );
    progress.waitingFor(
      `the kubelet to answer its health endpoint: kubelet.service is ${ActiveState}, restarted ${NRestarts} times`,
    );
    await sleep(HEALTH_INTERVAL_MS);
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
