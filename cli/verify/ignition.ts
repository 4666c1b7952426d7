import { readFile } from 'node:fs/promises';
import { Failure } from '../../lib/errors/failure.ts';
import { validateConfigText } from '../../lib/ignition/validate.ts';
import { plural } from '../../report/reading/words.ts';
import { requireRegularFile } from '../process/regular-file.ts';

/** Several times what fits a boot partition. */
const MAX_BYTES = 512 * 1024 ** 2;

/** `sno verify ignition F`: @throws Failure (usage) with every fault of the config. */
export async function verifyIgnition(path: string, print: (line: string) => void): Promise<void> {
  const { size } = await requireRegularFile(path, 'The config');
  if (size > MAX_BYTES) {
    throw new Failure('usage', `${path} is too large for an Ignition config`, {
      expected: `at most ${MAX_BYTES} bytes`,
      found: `${size}`,
    });
  }
  const text = await readFile(path, 'utf8');
  const faults = validateConfigText(text);
  if (faults.length > 0) {
    const lines = faults.map(({ at, problem }) => `  ${at} ${problem}`);
    const head = `${path} has ${plural(faults.length, 'error')}:`;
    throw new Failure('usage', [head, ...lines].join('\n'));
  }
  print(`${path} is a valid Ignition config`);
}
