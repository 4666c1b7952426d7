import type { EndedRun } from '../steps/agent-command.ts';
import { type Sample, sample } from './metrics.ts';
import { type MeasuredHost, writeMetrics } from './write.ts';

/** Writes the metrics of an agent whose run has ended: when that was, with which result, and its own ones. */
export async function measureRun(
  host: MeasuredHost,
  agent: string,
  { isDone, at, warn }: EndedRun,
  collect: () => Promise<readonly Sample[]> = async () => [],
): Promise<void> {
  const collectAll = async () => [
    sample('sno_agent_last_run_timestamp_seconds', { agent }, at),
    sample('sno_agent_last_run_success', { agent }, isDone),
    ...(await collect()),
  ];
  await writeMetrics(host, agent, collectAll, warn);
}
