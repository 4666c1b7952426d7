import type { TestRun } from './run-tests.ts';

/** A test file with and without the mutation, each until a deadline. */
export interface Runs {
  mutated(deadlineMs: number): Promise<TestRun>;
  unchanged(deadlineMs: number): Promise<TestRun>;
}

const LEAST_DEADLINE_MS = 15_000;
const CONTROL_DEADLINE_MS = 180_000;
/** A mutant may slow a test down by this factor; beyond that it counts as endless. */
const SLOWER = 8;
const ATTEMPTS = 3;

/**
 * Whether a test file notices a mutant. A run that fails ends at its first failure, so it is shorter than one that passes. A
 * longer one, and one that does not end, can be due to a busy machine. Such a result counts only if the unchanged code
 * passes right afterwards, and in time by its own pace. Undefined: it passes, or the machine never let it be known.
 */
export async function noticedIn(
  usual: { readonly durationMs: number },
  runs: Runs,
): Promise<'killed' | 'timeout' | undefined> {
  let paceMs = usual.durationMs;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const deadlineMs = Math.max(LEAST_DEADLINE_MS, SLOWER * paceMs);
    const { outcome, durationMs } = await runs.mutated(deadlineMs);
    if (outcome === 'passed') return undefined;
    if (outcome === 'failed' && durationMs <= paceMs) return 'killed';
    const control = await runs.unchanged(CONTROL_DEADLINE_MS);
    const isInTime = SLOWER * control.durationMs <= deadlineMs;
    if (control.outcome === 'passed' && isInTime)
      return outcome === 'timeout' ? 'timeout' : 'killed';
    paceMs = Math.max(paceMs, control.durationMs);
  }
  return undefined;
}
