import {
  installPackages,
  missingPackages,
  missingPrerequisites,
} from '../../lab/components/debian-packages.ts';
import { describeError } from '../../lib/base/errors/failure.ts';

/**
 * Installs the lab's Debian packages where the lab could run: several test files use their programs, and no order of
 * files may decide whether they are there. Where that fails, the tests say what they lack.
 */
export async function installLabPackages(
  signal: AbortSignal,
  report: (line: string) => void,
): Promise<void> {
  if ((await missingPrerequisites()).length > 0) return;
  const missing = await missingPackages();
  if (missing.length === 0) return;
  report(`  installs ${missing.join(', ')}`);
  try {
    await installPackages(missing, signal);
  } catch (error) {
    report(`  could not be installed: ${describeError(error)}`);
  }
}
