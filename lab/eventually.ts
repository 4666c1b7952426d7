import { succeeds, waitUntil } from '../lib/base/wait/wait-until.ts';
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
  return waitUntil(succeeds(attempt), {
    signal,
    deadlineMs: patient(deadlineMs),
    everyMs: patient(EVERY_MS),
    late: ({ state, cause }) => (cause instanceof Error ? cause : new Error(state)),
  });
}
