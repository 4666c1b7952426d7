import { join } from 'node:path';
import { execa } from 'execa';

/** The first check reads everything; later ones only what a mutant concerns. */
const DEADLINE_MS = 600_000;

/**
 * Whether the type checker accepts a tree. One that it does not accept cannot land, so no test is asked to notice it.
 * Unused names do not count: a mutant leaves them behind, a fault of somebody's need not.
 *
 * @throws of execa, if the type checker does not end or does not start.
 */
export async function compiles(root: string): Promise<boolean> {
  const result = await execa(
    join(root, 'node_modules/.bin/tsc'),
    [
      ...['-p', '.', '--noEmit', '--incremental'],
      ...['--tsBuildInfoFile', join(root, 'dist/mutation.tsbuildinfo')],
      ...['--noUnusedLocals', 'false', '--noUnusedParameters', 'false'],
    ],
    { cwd: root, stdin: 'ignore', reject: false, timeout: DEADLINE_MS },
  );
  if (result.exitCode === undefined) throw result;
  return !result.failed;
}
