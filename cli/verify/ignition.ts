import { Failure } from '../../lib/base/errors/failure.ts';
import { readGivenFile } from '../../lib/host/given-file.ts';
import type { ConfigFault } from '../../lib/render/ignition/config.ts';
import { validateGivenConfig } from '../../lib/render/ignition/given-config.ts';
import { plural } from '../../report/reading/words.ts';
import type { Surroundings } from '../surroundings.ts';

/** Several times what fits a boot partition. */
const MAX_BYTES = 512 * 1024 ** 2;

/** The text of an Ignition config. @throws Failure (usage) for anything but a file of a sensible size */
export const readIgnitionText = (path: string, signal?: AbortSignal): Promise<string> =>
  readGivenFile(path, 'The Ignition config', { signal, mostBytes: MAX_BYTES, keepsMark: true });

/** `sno verify ignition F`: @throws Failure (usage) with every fault of the config. */
export async function verifyIgnition(
  path: string,
  { print, signal }: Pick<Surroundings, 'print' | 'signal'>,
): Promise<void> {
  const text = await readIgnitionText(path, signal);
  const faults = validateGivenConfig(text);
  if (faults.length > 0) throw faultsInConfig(path, faults);
  print(`${path} is a valid Ignition config`);
}

/** All of them, each in a line. */
export function faultsInConfig(path: string, faults: readonly ConfigFault[]): Failure {
  const lines = faults.map(({ at, problem }) => `  ${at} ${problem}`);
  const head = `${path} has ${plural(faults.length, 'error')}:`;
  return new Failure('usage', [head, ...lines].join('\n'));
}
