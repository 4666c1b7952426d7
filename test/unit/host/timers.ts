import timers from 'node:timers/promises';
import type { Test } from 'tap';
import { captureBuiltins } from './builtins.ts';

/** execa kills a program that is still running this long after it was told to stop. */
const FORCED_MS = 5000;

/** Records the time limits, in milliseconds, of programs run during the test, in order. */
export function recordLimits(t: Test): number[] {
  const limits: number[] = [];
  const { setTimeout } = timers;
  captureBuiltins(t, () => {
    t.capture(timers, 'setTimeout', (ms: number, value: unknown, options: object) => {
      if (ms !== FORCED_MS) limits.push(ms);
      return setTimeout(ms, value, options);
    });
  });
  return limits;
}
