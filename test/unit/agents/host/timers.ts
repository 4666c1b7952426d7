import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import type { Test } from 'tap';

/**
 * Ends pauses, and deadlines of programs, immediately unless they are longer than that, until the
 * test ends. Returns the requested durations in ms.
 */
export function endPauses(t: Test, longestMs = Number.POSITIVE_INFINITY): number[] {
  const pauses: number[] = [];
  const original = timers.setTimeout;
  // Before the capture: teardowns run in reverse order.
  t.teardown(() => syncBuiltinESMExports());
  t.capture(timers, 'setTimeout', async (...args: Parameters<typeof original>) => {
    const [delayMs = 0] = args;
    if (delayMs > longestMs) return original(...args);
    return void pauses.push(delayMs);
  });
  syncBuiltinESMExports();
  return pauses;
}

/** Until the test ends, each reading of the clock that only goes forward is this much later than the one before. */
export function hurry(t: Test, ms: number): void {
  let now = 0;
  t.capture(performance, 'now', () => {
    now += ms;
    return now;
  });
}

/** Until the test ends, what is done at intervals is done as often as possible. */
export function shortenIntervals(t: Test): void {
  const original = timers.setInterval;
  t.teardown(() => syncBuiltinESMExports());
  t.capture(timers, 'setInterval', (...[, ...rest]: Parameters<typeof original>) =>
    original(1, ...rest),
  );
  syncBuiltinESMExports();
}
