import { readFile } from 'node:fs/promises';
import { Failure } from '../../lib/base/errors/failure.ts';
import type { ConfigFault } from '../../lib/render/ignition/config.ts';
import { validateConfigText } from '../../lib/render/ignition/validate.ts';
import { plural } from '../../report/reading/words.ts';
import { requireRegularFile } from '../process/regular-file.ts';

/** Several times what fits a boot partition. */
const MAX_BYTES = 512 * 1024 ** 2;

/** The text of an Ignition config. @throws Failure (usage) for anything but a file of a sensible size */
export async function readIgnitionText(path: string): Promise<string> {
  const { size } = await requireRegularFile(path, 'The config');
  if (size <= MAX_BYTES) return readFile(path, 'utf8');
  throw new Failure('usage', `${path} is too large for an Ignition config`, {
    expected: `at most ${MAX_BYTES} bytes`,
    found: `${size}`,
  });
}

/** `sno verify ignition F`: @throws Failure (usage) with every fault of the config. */
export async function verifyIgnition(path: string, print: (line: string) => void): Promise<void> {
  const text = await readIgnitionText(path);
  const faults = validateConfigText(text);
  if (faults.length > 0) throw faultsInConfig(path, faults);
  print(`${path} is a valid Ignition config`);
}

/** All of them, each in a line. */
export function faultsInConfig(path: string, faults: readonly ConfigFault[]): Failure {
  const lines = faults.map(({ at, problem }) => `  ${at} ${problem}`);
  const head = `${path} has ${plural(faults.length, 'error')}:`;
  return new Failure('usage', [head, ...lines].join('\n'));
}
