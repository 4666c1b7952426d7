import type { Wait } from '../../base/wait/limits.ts';
import { leftMs } from '../../base/wait/unchanged.ts';
import type { KubeClient } from '../../clients/kube/client.ts';
import type { SteadyFinding } from './finding.ts';
import type { SteadySubject } from './parts.ts';
import {
  nextSettling,
  nothingSeen,
  type SteadyVerdict,
  verdictOf,
  verdictText,
} from './verdict.ts';
import { SteadyView } from './view.ts';

export interface SteadyWait extends Wait {
  /** For how long nothing may change. */
  readonly windowMs: number;
  readonly bootId: string;
  /** A shutdown or restart of the host that is scheduled. */
  readonly scheduled: () => Promise<SteadyFinding[]>;
}

/**
 * Waits until nothing of the host and its cluster has changed for the window, or the deadline has passed; returns the
 * last verdict. Only evidence of this boot counts: after a restart the database shows the past.
 */
export async function waitSteady(
  client: KubeClient,
  subject: SteadySubject,
  { windowMs, bootId, scheduled, signal, deadlineMs, report }: SteadyWait,
): Promise<SteadyVerdict> {
  const ended = new AbortController();
  const deadline = AbortSignal.timeout(Math.max(1, Math.ceil(deadlineMs)));
  const view = new SteadyView(client, subject, {
    signal: AbortSignal.any([signal, deadline, ended.signal]),
    scheduled,
  });
  let settling = nothingSeen;
  let reported = '';
  const verdict = () => verdictOf(settling, { now: new Date(), windowMs, bootId });
  const look = () => {
    const now = new Date();
    settling = nextSettling(settling, now, view.judgement(now));
    const text = verdictText(verdict());
    if (text !== reported) report(text);
    reported = text;
    return leftMs(settling, now, windowMs) === 0;
  };
  try {
    await Promise.race([view.follow(look), view.tick(look, windowMs)]);
  } catch (error) {
    signal.throwIfAborted();
    if (!deadline.aborted) throw error;
  } finally {
    ended.abort();
  }
  return verdict();
}
