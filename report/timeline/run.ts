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

/** Where the live host's files are in a bundle, and where the disk has copies of them. */
const OF_LIVE_HOST = /(?:^|\/)(?:bootstrap|steps\/live)\//;

/** On which host an agent ran; for one of both hosts the file that tells of it decides. */
export function stageOf(agent: string, file: string): StepRun['stage'] {
  const stage = agentEntry(agent)?.stage;
  if (stage === 'live') return 'live';
  return stage === 'installation' && OF_LIVE_HOST.test(file) ? 'live' : 'installed';
}
