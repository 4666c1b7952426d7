import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import type { Test } from 'tap';

/**
 * Ends every pause and every deadline of a program at once, until the test ends. Returns how long
 * each would have lasted, in ms.
 */
export function endPauses(t: Test): number[] {
  const pauses: number[] = [];
  // Before the capture: the last to be registered is the first to run.
  t.teardown(() => syncBuiltinESMExports());
  t.capture(timers, 'setTimeout', async (delayMs: number) => void pauses.push(delayMs));
  syncBuiltinESMExports();
  return pauses;
}
