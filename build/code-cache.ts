import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';

const COMPILE_DEADLINE_MS = 60_000;

/**
 * What V8 compiled while the program ran with each of `runs` (arguments that must act on
 * nothing): read back by an executable it saves parsing and compiling at its start.
 *
 * The same program gives the same bytes: `--predictable` makes V8 seed its hashes alike and
 * stay in one thread, and is one of the few flags that V8 leaves out of the comparison with
 * the process that reads the compiled code. `flags` are those that this process starts with.
 */
export async function codeCache(
  {
    program,
    runs,
    flags,
    workDir,
  }: {
    /** Path of the wrapped program. */
    program: string;
    runs: readonly (readonly string[])[];
    flags: readonly string[];
    workDir: string;
  },
  signal: AbortSignal,
): Promise<Buffer> {
  const output = join(workDir, 'code-cache');
  const compile = join(import.meta.dirname, 'compile.ts');
  await writeFile(output, '');
  await execa(process.execPath, ['--predictable', ...flags, compile, program, output], {
    input: JSON.stringify(runs),
    stdout: 'ignore',
    extendEnv: false,
    timeout: COMPILE_DEADLINE_MS,
    cancelSignal: signal,
  });
  const compiled = await readFile(output);
  if (compiled.length === 0) throw new Error(`V8 compiled nothing of ${program}`);
  return compiled;
}
