import { syncBuiltinESMExports } from 'node:module';
import type { Test } from 'tap';

/**
 * Runs `capture`, which captures functions of Node's modules with `t.capture`: names that were
 * imported from these modules follow, and follow again when the test has ended.
 */
export function captureBuiltins(t: Test, capture: () => void): void {
  // Before the captures: of what runs at the end of a test, the first to be registered comes last.
  t.teardown(() => syncBuiltinESMExports());
  capture();
  syncBuiltinESMExports();
}
