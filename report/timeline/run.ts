import { agentEntry } from '../../lib/agents/table.ts';
import type { FailureData } from '../../lib/errors/failure-data.ts';
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
  failure?: FailureData;
  isEstimated: boolean;
  evidence: Evidence;
}

/** What is no agent of the live host runs on the installed one. */
export const stageOf = (agent: string): StepRun['stage'] =>
  agentEntry(agent)?.stage === 'live' ? 'live' : 'installed';
