/**
 * Runs test files one after another in this process, so that they share their imports. The first
 * argument is the batch's name, which determines its fixture folder; TEST_FILES contains paths from
 * the root, one per line. A comment names each file before its tests; an assertion after them checks
 * that the process is left as it was found.
 */
import './no-async-hook.ts';
import { join } from 'node:path';
import t from 'tap';
import { fileComment } from './tally.ts';

const root = join(import.meta.dirname, '..', '..');
const files = (process.env.TEST_FILES ?? '').split('\n');
delete process.env.TEST_FILES;

/** What is needed of tap's tests; only those that can have subtests have the set. */
interface Running {
  readonly activeSubtests?: ReadonlySet<Running>;
  threw(error: unknown): void;
}

function innermost(test: Running): Running {
  for (const subtest of test.activeSubtests ?? []) return innermost(subtest);
  return test;
}

// Rejections arrive here as well, since nothing listens to unhandledRejection.
process.on('uncaughtException', (error) => innermost(t).threw(error));

// With it, tap ends after the first file that it takes for the last one, and the tests of all others are not run.
Object.defineProperty(t, 'teardown', {
  value: () => {
    throw new Error('a file cleans up in its tests: it shares the root with others');
  },
});

const surroundings = () => ({
  env: { ...process.env },
  cwd: process.cwd(),
  umask: process.umask(),
  exitCode: process.exitCode,
});

for (const file of files) {
  t.comment(fileComment(file));
  const before = surroundings();
  const assertions = t.count;
  try {
    await import(join(root, file));
  } catch (error) {
    t.fail('the file cannot be loaded', { error: String(error) });
  }
  await t.test('at the end of the file', async (end) => {
    end.ok(t.count > assertions, 'it had tests');
    end.strictSame(
      surroundings(),
      before,
      'environment, folder, umask and exit code are unchanged',
    );
  });
}
