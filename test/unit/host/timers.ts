import timers from 'node:timers/promises';
import type { Test } from 'tap';
import { captureBuiltins } from './builtins.ts';

/** After that time, execa kills a program that goes on after it was told to stop. */
const FORCED_MS = 5000;

/** The time limits, in milliseconds, that programs are run with during the test, in their order. */
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
