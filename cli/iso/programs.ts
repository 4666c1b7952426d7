import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { Failure } from '../../lib/base/errors/failure.ts';

/** Programs needed to make an ISO, and the packages that contain them. */
const packages = {
  xorriso: 'the package xorriso',
  'coreos-installer': 'the package coreos-installer, or "cargo install coreos-installer"',
} as const;

type Environment = Readonly<Record<string, string | undefined>>;

/** @throws Failure (usage) that names every missing program, with its package */
export async function requireIsoPrograms(
  { PATH = '' }: Environment,
  needed: readonly (keyof typeof packages)[] = ['xorriso', 'coreos-installer'],
): Promise<void> {
  const missing: string[] = [];
  for (const program of needed) {
    if (!(await isInPath(program, PATH))) missing.push(`${program} (${packages[program]})`);
  }
  if (missing.length === 0) return;
  const what = `Creating an ISO needs ${missing.join(' and ')}; nothing was written`;
  throw new Failure('usage', what, { fix: 'Install what is missing.' });
}

/** Whether there is such a program; starting one that is not there costs a thousand times more. */
export const isInPath = (program: string, path: string): Promise<boolean> =>
  Promise.any(
    path
      .split(delimiter)
      .filter((folder) => folder !== '')
      .map((folder) => access(join(folder, program), constants.X_OK)),
  ).then(
    () => true,
    () => false,
  );
