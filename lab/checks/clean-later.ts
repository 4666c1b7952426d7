import { Failure } from '../../lib/base/errors/failure.ts';
import type { RunningCheck } from './check.ts';

const SEARCH_MS = 3 * 60_000;

/** `command`: verify-clean on the host. */
export const cleanLaterBy = (command: readonly string[]): RunningCheck => ({
  name: 'verify-clean finds no key of the bootstrap, in no layer and not in the journal',
  run: async ({ host }, signal) => {
    const within = { timeoutMs: SEARCH_MS };
    const { exitCode, stdout, stderr } = await host.exec(command, within, signal);
    if (exitCode === 0 && /^Clean: \d+ files, .* and the journal have/.test(stdout)) return;
    throw new Failure('fatal', `verify-clean ended with exit code ${exitCode}`, {
      expected: 'the files and the journal to be searched, and nothing to be found',
      found: stdout.trim() || stderr.trim(),
    });
  },
});

export const cleanLater = cleanLaterBy(['/usr/local/bin/verify-clean']);
