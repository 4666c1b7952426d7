import { readFile, stat } from 'node:fs/promises';
import { Failure } from '../../lib/base/errors/failure.ts';
import { isMissing } from '../../lib/host/files.ts';

/**
 * A file that may lie beside site-config.yaml or install-config.yaml; undefined if it does not.
 *
 * @throws Failure (usage) if it is something else than a file of at most so many bytes
 */
export async function textBeside(path: string, maxBytes: number): Promise<string | undefined> {
  const stats = await stat(path).catch((error: unknown) => {
    if (!isMissing(error)) throw new Failure('usage', `${path} cannot be read`, { cause: error });
  });
  if (stats === undefined) return undefined;
  if (!stats.isFile() || stats.size > maxBytes) {
    throw new Failure('usage', `${path} cannot be used`, {
      expected: `a file of at most ${maxBytes} bytes`,
      found: stats.isFile() ? `${stats.size} bytes` : 'something else',
    });
  }
  return readFile(path, 'utf8');
}
