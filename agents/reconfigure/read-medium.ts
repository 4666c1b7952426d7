import { pipeline } from 'node:stream/promises';
import { addText, tarOf } from '../../lib/base/archive/tar-writer.ts';
import { standardOutput } from '../../lib/base/command-line.ts';
import { EXIT, type ExitCode, exitCodeFor } from '../../lib/base/errors/exit-codes.ts';
import { describeError } from '../../lib/base/errors/failure.ts';
import { printableOnConsole } from '../../lib/engine/console/wording.ts';
import { readMedium } from '../../lib/host/media/read-medium.ts';
import { VOLUME_LIMITS } from '../../lib/relocation/site-volume/volume.ts';

const READ_MS = 60_000;

/**
 * `reconfigure read-medium FILE-SYSTEM DEVICE`: writes the files of a medium to standard output, as a tar archive. Run
 * by lib/host/media/read-unprivileged.ts without rights; the last line on standard error says what is wrong.
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
    standardOutput.writeError(`${printableOnConsole(describeError(error))}\n`);
    return exitCodeFor(error);
  }
}
