/**
 * `node --predictable compile.ts PROGRAM OUTPUT`: runs a wrapped program once for each list of
 * arguments in the JSON on its standard input, then writes the compiled code of what ran.
 * A separate process, since V8 must start in a known state, and the program exits it.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { FILE_NAME, type Program, programScript } from './program.ts';

const [, , source = '', output = ''] = process.argv;
const runs: string[][] = JSON.parse(readFileSync(0, 'utf8'));
const script = programScript(readFileSync(source, 'latin1'));
const program: Program = script.runInThisContext();
const require = createRequire(import.meta.url);

function runNext(): void {
  const args = runs.shift();
  if (args === undefined) {
    process.off('beforeExit', runNext);
    writeFileSync(output, script.createCachedData());
    return;
  }
  process.argv = [process.execPath, FILE_NAME, ...args];
  const main = { exports: {} };
  program(main.exports, require, main, FILE_NAME, '/');
  // Gives the event loop work: `beforeExit` is only emitted again after that.
  setImmediate(() => undefined);
}

// A program ends with process.exit() or when no work is left.
Object.assign(process, { exit: () => undefined });
process.on('beforeExit', runNext);
