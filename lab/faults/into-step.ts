import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentName } from '../../lib/engine/agents/table.ts';

/** Time after the step's start, where its beginning would not be interesting. */
const INTO_STEP_MS: Partial<Readonly<Record<AgentName, Readonly<Record<string, number>>>>> = {
  bootkube: {
    payload: 2_500,
    etcd: 400,
    'control-plane': 1_500,
    quiesce: 1_200,
    snapshot: 2_050,
    'stop-etcd': 500,
  },
  'install-to-disk': { 'write-disk': 2_500, 'copy-payload': 1_000 },
  'post-reboot': {
    api: 1_000,
    'bootstrap-complete': 2_000,
    'steady-state': 5_000,
    // After the first files were deleted, including the API credentials.
    clean: 250,
    'verify-clean': 300,
  },
  'sno-backup-restore': { stop: 1_000, start: 2_000, 'steady-state': 2_000 },
  'sno-rotate': { 'trust-both': 3_000, 'use-new': 300, 'trust-new': 3_000 },
  'sno-identity': { hold: 1_000, files: 2_000, start: 300, 'steady-state': 2_000 },
  reconfigure: { stop: 1_000, network: 1_500, start: 3_000, settle: 1_000 },
  'sno-update': { stage: 300, switch: 1_000, settle: 3_000 },
  aiokube: {
    payload: 2_500,
    kubelet: 1_500,
    'bootstrap-complete': 2_000,
    'steady-state': 5_000,
    // After the first files were deleted.
    clean: 60,
  },
};

/** Waits, in a step that has just started, for the moment in which an interruption is worth testing. */
export async function intoStep(
  agent: AgentName,
  step: string,
  signal?: AbortSignal,
): Promise<void> {
  const delayMs = INTO_STEP_MS[agent]?.[step];
  if (delayMs !== undefined)
    await sleep(delayMs, undefined, signal === undefined ? {} : { signal });
}
