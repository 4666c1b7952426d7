import { join, relative } from 'node:path';
import { execaNode } from 'execa';
import t from 'tap';

const root = join(import.meta.dirname, '..', '..', '..');

/** A test whose own promise is fulfilled, after the statement's consequences. */
const test = (name: string, statement = '') =>
  `t.test('${name}', async (t) => {
     t.ok(true);
     ${statement};
     await setImmediate();
     await setImmediate();
   });`;

const inCallback = `globalThis.setImmediate(() => { throw new Error('not caught'); })`;

const running = [
  { what: 'thrown in a callback', own: 'faulty', file: test('faulty', inCallback) },
  {
    what: 'a rejection',
    own: 'faulty',
    file: test('faulty', `Promise.reject(new Error('not caught'))`),
  },
  {
    what: 'thrown in a callback of a subtest',
    own: 'inner',
    file: test('outer', `await ${test('inner', inCallback)}`),
  },
];

for (const { what, own, file } of running) {
  t.test(`an error that nothing catches fails the test that is running: ${what}`, async (t) => {
    const folder = t.testdir({
      'a.test.mjs': [
        `import { setImmediate } from 'node:timers/promises';`,
        `import t from 'tap';`,
        test('before'),
        file,
        test('after'),
      ].join('\n'),
    });
    const { stdout, exitCode } = await execaNode(
      join(root, 'test/runner/batch.ts'),
      ['uncaught-errors'],
      {
        cwd: root,
        env: { TEST_FILES: relative(root, join(folder, 'a.test.mjs')) },
        reject: false,
        timeout: 300_000,
      },
    );
    const lines = stdout.split('\n').map((line) => line.trim());
    const failure = lines.findIndex((line) => /^not ok \d+ - not caught$/.test(line));
    const started = lines.slice(0, failure).filter((line) => line.startsWith('# Subtest'));
    t.equal(started.at(-1), `# Subtest: ${own}`);
    t.equal(exitCode, 1);
  });
}
