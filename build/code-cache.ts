import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';

const COMPILE_DEADLINE_MS = 60_000;

/**
 * V8's compiled code after running the program with each of `runs` (arguments without side
 * effects): an executable that loads it skips parsing and compiling at its start.
 *
 * The same program produces the same bytes: `--predictable` makes V8 use fixed hash seeds and a
 * single thread, and is one of the few flags that V8 ignores when it compares with the process
 * that loads the code. `flags`: the V8 options of that process.
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
  if (compiled.length === 0) throw new Error(`V8 produced no code cache for ${program}`);
  return compiled;
}
