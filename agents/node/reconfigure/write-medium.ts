import { text } from 'node:stream/consumers';
import { standardOutput } from '../../../lib/command-line.ts';
import { printable } from '../../../lib/console/wording.ts';
import { EXIT, type ExitCode, exitCodeFor } from '../../../lib/errors/exit-codes.ts';
import { describeError } from '../../../lib/errors/failure.ts';
import { overwriteFiles } from '../../../lib/media/in-place/overwrite.ts';
import { passedFiles } from '../../../lib/media/write-unprivileged.ts';

const WRITE_MS = 30_000;

/**
 * `reconfigure write-medium FILE-SYSTEM DEVICE`: overwrites the files that it receives on standard input where they lie.
 * Run by lib/media/write-unprivileged.ts without rights; the last line on standard error says what is wrong.
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
    standardOutput.writeError(`${printable(describeError(error))}\n`);
    return exitCodeFor(error);
  }
}
