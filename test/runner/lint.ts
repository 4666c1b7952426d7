import { join } from 'node:path';
import { execa } from 'execa';
import { describeError } from '../../lib/base/errors/failure.ts';
import { emptyTally, type Tally, type TallyEvents } from './tally.ts';

const DEADLINE_MS = 600_000;

const LINTERS = [
  {
    part: 'format',
    name: 'format and lint',
    program: '@biomejs/cli-linux-x64/biome',
    args: ['check', '--error-on-warnings'],
  },
  { part: 'types', name: 'types', program: '.bin/tsc', args: ['--noEmit', '-p', '.'] },
] as const;

/** The checks that run no project code; `lint` selects all of them. */
export async function lint(
  root: string,
  parts: readonly string[],
  events: TallyEvents,
  signal: AbortSignal,
): Promise<Tally> {
  const tally = emptyTally();
  const wanted = LINTERS.filter(({ part }) => parts.includes('lint') || parts.includes(part));
  for (const { name, program, args } of wanted) {
    const result = await execa(join(root, 'node_modules', program), args, {
      cwd: root,
      all: true,
      reject: false,
      timeout: DEADLINE_MS,
      cancelSignal: signal,
    });
    const one: Tally = { ...emptyTally(), [result.failed ? 'failed' : 'passed']: 1 };
    tally.passed += one.passed;
    tally.failed += one.failed;
    if (result.failed) events.onFailure(name, result.all || describeError(result));
    events.onFile(name, one, result.durationMs / 1000);
  }
  return tally;
}
