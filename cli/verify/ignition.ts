import { readFile } from 'node:fs/promises';
import { Failure } from '../../lib/errors/failure.ts';
import { validateConfigText } from '../../lib/ignition/validate.ts';

/** `sno verify ignition F`: a usage Failure with every fault of the config. */
export async function verifyIgnition(path: string, print: (line: string) => void): Promise<void> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    throw new Failure('usage', `${path} cannot be read`, { cause });
  }
  const faults = validateConfigText(text);
  if (faults.length > 0) {
    const lines = faults.map(({ at, problem }) => `  ${at} ${problem}`);
    const count = faults.length === 1 ? '1 fault' : `${faults.length} faults`;
    throw new Failure('usage', [`${path} has ${count}:`, ...lines].join('\n'));
  }
  print(`${path} is a valid Ignition config`);
}
