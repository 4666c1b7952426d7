import { Command } from 'commander';
import t, { type Test } from 'tap';
import { runCommandLine, standardOutput } from '../../../lib/base/command-line.ts';
import { Failure } from '../../../lib/base/errors/failure.ts';

/** What `body` writes, without what this process reports meanwhile. */
function written(t: Test, body: () => void): string[] {
  const texts: string[] = [];
  const record = (text: string | Uint8Array) => texts.push(String(text)) > 0;
  const streams = [process.stdout, process.stderr];
  const captured = streams.map((stream) => t.capture(stream, 'write', record));
  body();
  for (const each of captured) each.restore();
  return texts;
}

t.test('whatever a command prints or an error quotes, a terminal interprets nothing', async (t) => {
  t.same(
    written(t, () => standardOutput.write('NAME\tAGE\npod\u001b[2J\t1\n')),
    ['NAME\tAGE\npod\\u001b[2J\t1\n'],
  );
  const errors: string[] = [];
  const program = new Command('x').exitOverride().action(() => {
    throw new Failure('usage', 'no pod \u202e"a\u009bb"', { found: 'c\u2028d' });
  });
  const code = await runCommandLine(program, [], () => 0, {
    writeError: (text) => void errors.push(text),
  });
  t.equal(code, 2);
  t.same(
    written(t, () => standardOutput.writeError(errors.join(''))),
    ['x: no pod \\u202e"a\\u009bb"; found c\\u2028d\n'],
  );
});

t.test('an ordinary user is told who may, and root is not', async (t) => {
  const program = () =>
    new Command('x').exitOverride().action(() => {
      throw Object.assign(new Error("EACCES: permission denied, open '/x'"), { code: 'EACCES' });
    });
  const said = async (uid: number) => {
    const { getuid } = process;
    Object.assign(process, { getuid: () => uid });
    const errors: string[] = [];
    const writeError = (text: string) => void errors.push(text);
    t.equal(await runCommandLine(program(), [], () => 0, { writeError }), 1);
    Object.assign(process, { getuid });
    return errors.join('');
  };
  t.match(await said(1000), /\/x'\. Run it as root, such as with sudo\.\n$/);
  t.notMatch(await said(0), /sudo/);
});
