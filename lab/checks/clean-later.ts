import { Failure } from '../../lib/errors/failure.ts';
import type { RunningCheck } from './check.ts';

const SEARCH_MS = 3 * 60_000;

export const cleanLater: RunningCheck = {
  name: 'verify-clean finds no key of the bootstrap, in no layer and not in the journal',
  run: async ({ host }, signal) => {
    const { exitCode, stdout, stderr } = await host.exec(
      ['/usr/local/bin/verify-clean'],
      { timeoutMs: SEARCH_MS },
      signal,
    );
    if (exitCode === 0 && /^Clean: \d+ files, .* and the journal have/.test(stdout)) return;
    throw new Failure('fatal', `verify-clean ended with exit code ${exitCode}`, {
      expected: 'the files and the journal to be searched, and nothing to be found',
      found: stdout.trim() || stderr.trim(),
    });
  },
};
