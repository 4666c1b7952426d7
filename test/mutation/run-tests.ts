import { join } from 'node:path';
import { execa } from 'execa';

export type Outcome = 'passed' | 'failed' | 'timeout';

export interface TestRun {
  readonly outcome: Outcome;
  readonly durationMs: number;
  readonly output: string;
}

/**
 * Runs one test file in its own process, without tap's runner, until its first failure. It has
 * its own process group, so that all its child processes end with it.
 */
export async function runTestFile(
  root: string,
  file: string,
  deadlineMs: number,
  env: Readonly<Record<string, string>>,
): Promise<TestRun> {
  const started = performance.now();
  const test = execa(process.execPath, [join(root, file)], {
    cwd: root,
    env: {
      TAP_BAIL: '1',
      TAP_TIMEOUT: String(Math.ceil(deadlineMs / 1000)),
      // Only the mutated module is compiled again.
      NODE_COMPILE_CACHE: join(root, 'dist/compile-cache'),
      ...env,
    },
    stdin: 'ignore',
    all: true,
    reject: false,
    detached: true,
    maxBuffer: 1 << 20,
  });
  let isLate = false;
  const deadline = setTimeout(() => {
    isLate = true;
    endGroup(test.pid);
  }, deadlineMs);
  const result = await test;
  clearTimeout(deadline);
  endGroup(test.pid);
  const outcome = isLate ? 'timeout' : result.failed ? 'failed' : 'passed';
  return { outcome, durationMs: performance.now() - started, output: result.all };
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The process group no longer exists.
  }
}
