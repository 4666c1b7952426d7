import type { FailureData } from '../../lib/base/errors/failure-data.ts';
import { agentEntry } from '../../lib/engine/agents/table.ts';
import type { Evidence } from '../bundle-view.ts';

/** One run of a step, from its first attempt to its end. */
export interface ReportedRun {
  readonly agent: string;
  readonly stage: 'live' | 'installed';
  readonly step: string;
  readonly boot: string;
  startMs: number;
  /** Last known time; undefined while it is running. */
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

/** Folders of the live host's files in a bundle, and of their copies on the disk. */
const OF_LIVE_HOST = /(?:^|\/)(?:bootstrap|steps\/live)\//;

/** The host on which an agent ran; for agents of both hosts, the source file decides. */
export function stageOf(agent: string, file: string): ReportedRun['stage'] {
  const stage = agentEntry(agent)?.stage;
  if (stage === 'live') return 'live';
  return stage === 'installation' && OF_LIVE_HOST.test(file) ? 'live' : 'installed';
}
