import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { ExecaError } from 'execa';
import t from 'tap';
import { describeError } from '../../../lib/base/errors/failure.ts';
import { run } from '../../../lib/host/command.ts';
import { thrownBy } from '../base/errors/thrown-by.ts';

const limits = { signal: new AbortController().signal, deadlineMs: 60_000 };
const node = (source: string) => [process.execPath, ['-e', source]] as const;
const sh = (script: string, ...args: string[]) =>
  ['/bin/sh', ['-c', script, 'sh', ...args]] as const;

t.test('a program runs without a shell', async (t) => {
  t.equal(await run('printf', ['%s|', 'a b', '$HOME', '*'], limits), 'a b|$HOME|*|');
  t.equal(await run('cat', [], { ...limits, input: 'given' }), 'given');
  t.equal(await run('cat', [], limits), '', 'nothing to read without input');
  t.equal(await run(...sh('echo "$X"'), { ...limits, env: { X: 'y' } }), 'y');
  t.equal((await run(...sh('head -c 9000000 /dev/zero'), limits)).length, 9_000_000, 'whole');
});

t.test('a failure names the command, how it ended and its last output', async (t) => {
  const folder = t.testdir({ closed: 'x' });
  chmodSync(join(folder, 'closed'), 0o600);
  const table: [readonly [string, readonly string[]], Partial<typeof limits>, RegExp][] = [
    [
      sh('printf " bad \\n\\n" >&2; exit 3'),
      {},
      /^command "\/bin\/sh -c .*" failed; found exit code 3 after [\d.]+s \| bad$/,
    ],
    [sh('exit 7'), {}, /found exit code 7 after [\d.]+s$/],
    [sh('kill -9 $$'), {}, /found signal SIGKILL after/],
    [
      ['no-such-program', ['a']],
      {},
      /command "no-such-program a" failed; found program not found after [\d.]+s$/,
    ],
    [[join(folder, 'closed'), []], {}, /found EACCES after/],
    [sh('exec sleep 100'), { deadlineMs: 50 }, /found deadline exceeded after/],
    [sh('exec sleep 100'), { deadlineMs: 0 }, /found deadline exceeded after/],
    [sh('exec sleep 100'), { signal: AbortSignal.timeout(50) }, /found stopped after/],
    [sh('seq 9 >&2; exit 1'), {}, /\| 6 \| 7 \| 8 \| 9$/],
  ];
  for (const [[program, args], more, message] of table) {
    const failure = await thrownBy(run(program, args, { ...limits, ...more }));
    t.match(failure, { kind: 'retry', code: 'command-failed', message, cause: ExecaError });
    t.equal(describeError(failure), failure instanceof Error && failure.message, 'once');
  }
});

t.test('no secret gets into the error', async (t) => {
  const key = `-----BEGIN PRIVATE KEY-----\n${'hunter2\n'.repeat(9)}-----END PRIVATE KEY-----`;
  const table = [
    sh(`printf '${key}' >&2; exit 1`),
    sh(`printf '${key}\\nlast words' >&2; exit 1`),
    sh('echo "GET https://u:$1@h" >&2; exit 1', 'password=hunter2'),
    node("console.error('Authorization: Bearer hunter2'); process.exit(1)"),
    sh('exit 1', 'https://u:hunter2@host/'),
    ['no-such-program', ['--url=https://u:hunter2@host/']] as const,
  ];
  for (const [program, args] of table) {
    const error = await run(program, args, limits).catch((error: unknown) => error);
    t.ok(error instanceof Error, 'it failed');
    const text = error instanceof Error ? `${error.message} ${error.stack}` : '';
    t.notMatch(text, 'hunter2', text);
    t.match(text, '<redacted>');
  }
});
