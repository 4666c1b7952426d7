import { syncBuiltinESMExports } from 'node:module';
import type { Test } from 'tap';

/**
 * Runs `capture`, which replaces functions of Node's modules with `t.capture`. Named imports of
 * these modules are updated, and updated again when the test has ended.
 */
export function captureBuiltins(t: Test, capture: () => void): void {
  // Before the captures, since teardowns run in reverse order.
  t.teardown(() => syncBuiltinESMExports());
  capture();
  syncBuiltinESMExports();
}
