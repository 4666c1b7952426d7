import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../../../lib/base/errors/failure.ts';

/** Attempts in a row without a further byte. */
const MOST_ATTEMPTS = 5;
const FIRST_PAUSE_MS = 1000;

export interface Attempts {
  readonly signal: AbortSignal;
  /** Bytes that are there. An attempt that got some more does not count. */
  bytes(): Promise<number>;
  /** Called before each pause, with why. */
  report(failure: Failure): void;
  readonly pauseMs?: number;
}

/** Repeats work that connections end, as long as it gets on. @throws the last Failure of several in a row */
export async function again<T>(
  work: () => Promise<T>,
  { signal, bytes, report, pauseMs = FIRST_PAUSE_MS }: Attempts,
): Promise<T> {
  let most = await bytes();
  for (let failed = 1; ; failed += 1) {
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof Failure) || error.kind !== 'retry') throw error;
      const now = await bytes();
      if (now > most) failed = 1;
      most = Math.max(most, now);
      if (failed >= MOST_ATTEMPTS) throw error;
      report(error);
      await sleep(pauseMs * 2 ** (failed - 1), undefined, { signal });
    }
  }
}
