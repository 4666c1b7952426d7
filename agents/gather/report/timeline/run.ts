import type { Evidence } from '../bundle-view.ts';

/** One run of a step, from its first attempt to its end. */
export interface StepRun {
  readonly agent: string;
  readonly stage: 'live' | 'installed';
  readonly step: string;
  readonly boot: string;
  startMs: number;
  /** Of the last that is known of it; undefined while it runs. */
  endMs?: number;
  result: 'done' | 'failed' | 'retrying' | 'running' | 'stopped' | 'interrupted' | 'reboot';
  attempts: number;
  seconds?: number;
  waited?: number;
  note?: string;
  reason?: string;
  isEstimated: boolean;
  evidence: Evidence;
}

/** The agents of the live host; all others run on the installed one. */
const LIVE_AGENTS: readonly string[] = ['bootkube', 'install-to-disk', 'approve-csr', 'progress'];

export const stageOf = (agent: string): StepRun['stage'] =>
  LIVE_AGENTS.includes(agent) ? 'live' : 'installed';
