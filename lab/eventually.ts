import { setTimeout as sleep } from 'node:timers/promises';
import { patient } from './patience.ts';

const EVERY_MS = 500;

/**
 * Tries again until an attempt succeeds.
 *
 * @throws the last attempt's error, once the deadline has passed.
 */
export async function eventually<T>(
  attempt: () => Promise<T>,
  deadlineMs: number,
  signal: AbortSignal,
): Promise<T> {
  const deadline = AbortSignal.timeout(patient(deadlineMs));
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (deadline.aborted || signal.aborted) throw error;
      await sleep(patient(EVERY_MS), undefined, { signal });
    }
  }
}
