import { pipeline } from 'node:stream/promises';
import { standardOutput } from '../../../lib/command-line.ts';
import { printable } from '../../../lib/console/wording.ts';
import { EXIT, type ExitCode, exitCodeFor } from '../../../lib/errors/exit-codes.ts';
import { describeError } from '../../../lib/errors/failure.ts';
import { addText, tarOf } from '../../../lib/image/tar-writer.ts';
import { readMedium } from '../../../lib/media/read-medium.ts';
import { VOLUME_LIMITS } from '../../../lib/site-volume/volume.ts';

const READ_MS = 60_000;

/**
 * `reconfigure read-medium FILE-SYSTEM DEVICE`: writes the files of a medium to standard output, as a tar archive. Run
 * by lib/media/read-unprivileged.ts without rights; the last line on standard error says what is wrong.
 */
export async function runReadMedium([
  fileSystem = '',
  device = '',
]: readonly string[]): Promise<ExitCode> {
  const limits = { signal: AbortSignal.timeout(READ_MS), deadlineMs: READ_MS };
  try {
    const files = await readMedium({ device, fileSystem }, VOLUME_LIMITS, limits);
    const archive = tarOf(async (tar) => {
      for (const [name, contents] of files) addText(tar, name, contents);
    });
    await pipeline(archive, process.stdout, { end: false });
    return EXIT.done;
  } catch (error) {
    standardOutput.writeError(`${printable(describeError(error))}\n`);
    return exitCodeFor(error);
  }
}
