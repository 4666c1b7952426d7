import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import type { Test } from 'tap';

/**
 * Ends each pause, and each deadline of a program, at once if it would not last longer than that,
 * until the test ends. Returns how long each would have lasted, in ms.
 */
export function endPauses(t: Test, longestMs = Number.POSITIVE_INFINITY): number[] {
  const pauses: number[] = [];
  const original = timers.setTimeout;
  // Before the capture: the last to be registered is the first to run.
  t.teardown(() => syncBuiltinESMExports());
  t.capture(timers, 'setTimeout', async (...args: Parameters<typeof original>) => {
    const [delayMs = 0] = args;
    if (delayMs > longestMs) return original(...args);
    return void pauses.push(delayMs);
  });
  syncBuiltinESMExports();
  return pauses;
}
