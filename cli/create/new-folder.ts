import { constants } from 'node:fs';
import { access, chmod, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { describeError, Failure } from '../../lib/base/errors/failure.ts';
import { systemErrorCode } from '../../lib/base/errors/system-error-code.ts';
import { exists, isMissing, syncDirectory } from '../../lib/host/files.ts';
import { plural } from '../../report/reading/words.ts';

/** Adds a fault if `--dir` cannot become a new folder. An empty one is permitted. */
export async function expectFree(target: string, faults: string[]): Promise<void> {
  try {
    // With the dot, a file is no folder. What cannot be written is not fetched first.
    await access(`${dirname(target)}/.`, constants.W_OK);
  } catch (error) {
    const isAbsent = systemErrorCode(error) === 'ENOENT';
    const why = isAbsent ? 'does not exist' : `cannot be used: ${describeError(error)}`;
    faults.push(`--dir ${target}: the folder ${dirname(target)} ${why}`);
    return;
  }
  try {
    if ((await readdir(target)).length === 0) return;
  } catch (error) {
    if (isMissing(error) && !(await exists(target))) return;
  }
  faults.push(`--dir ${target}: already exists. Move it away, or use another folder`);
}

/**
 * Fills a folder beside its final path, where it appears atomically once `fill` has succeeded. A process that is killed leaves
 * a folder of which `isStagingOf` is true.
 */
export async function makeNewFolder<T>(
  target: string,
  fill: (staging: string) => Promise<T>,
  mode = 0o755,
): Promise<T> {
  const staging = await mkdtemp(join(dirname(target), `.${basename(target)}.`));
  try {
    const result = await fill(staging);
    await chmod(staging, mode);
    // A rename replaces an empty folder and nothing else.
    await rename(staging, target);
    await syncDirectory(dirname(target));
    return result;
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

/** Whether a name is that of a folder beside `target` that `makeNewFolder` has not finished. */
export const isStagingOf = (name: string, target: string): boolean =>
  name.startsWith(`.${basename(target)}.`) && name.length === basename(target).length + 8;

/** @throws Failure (usage) with every fault, if there is one */
export function refuse(faults: readonly string[]): void {
  if (faults.length === 0) return;
  const head = `${plural(faults.length, 'error')}; nothing was written`;
  throw new Failure('usage', [head, ...faults].join('\n'));
}
