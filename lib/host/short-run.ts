import { setFlagsFromString } from 'node:v8';

/** Machine code of V8's compilers, and room for garbage. */
const WITHOUT = [
  '--no-opt',
  '--no-maglev',
  '--no-sparkplug',
  '--semi-space-growth-factor=1',
  '--single-threaded-gc',
  '--optimize-for-size',
] as const;

/**
 * Makes a process small that works for a second or two and then ends, or waits: in that time,
 * compiling functions and letting garbage accumulate takes a third more memory and saves no time.
 * To be called before the work begins.
 */
export function expectShortRun(): void {
  for (const flag of WITHOUT) setFlagsFromString(flag);
}
