import { text } from 'node:stream/consumers';
import { standardOutput } from '../../lib/base/command-line.ts';
import { EXIT, type ExitCode, exitCodeFor } from '../../lib/base/errors/exit-codes.ts';
import { describeError } from '../../lib/base/errors/failure.ts';
import { printableOnConsole } from '../../lib/engine/console/wording.ts';
import { overwriteFiles } from '../../lib/host/media/in-place/overwrite.ts';
import { passedFiles } from '../../lib/host/media/write-unprivileged.ts';

const WRITE_MS = 30_000;

/**
 * `reconfigure write-medium FILE-SYSTEM DEVICE`: overwrites the files that it receives on standard input where they lie.
 * Run by lib/host/media/write-unprivileged.ts without rights; the last line on standard error says what is wrong.
 */
export async function runWriteMedium([
  fileSystem = '',
  device = '',
]: readonly string[]): Promise<ExitCode> {
  const time = { signal: AbortSignal.timeout(WRITE_MS), deadlineMs: WRITE_MS };
  try {
    await overwriteFiles({ device, fileSystem }, passedFiles(await text(process.stdin)), time);
    return EXIT.done;
  } catch (error) {
    standardOutput.writeError(`${printableOnConsole(describeError(error))}\n`);
    return exitCodeFor(error);
  }
}
