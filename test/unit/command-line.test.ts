import { Command } from 'commander';
import t from 'tap';
import { runCommandLine, standardOutput } from '../../lib/command-line.ts';
import { Failure } from '../../lib/errors/failure.ts';

t.test('whatever a command prints or an error quotes, a terminal interprets nothing', async (t) => {
  const written: string[] = [];
  const record = (text: string | Uint8Array) => written.push(String(text)) > 0;
  t.capture(process.stdout, 'write', record);
  t.capture(process.stderr, 'write', record);
  const program = new Command('x').exitOverride().action(() => {
    standardOutput.write('NAME\tAGE\npod\u001b[2J\t1\n');
    throw new Failure('usage', 'no pod \u202e"a\u009bb"', { found: 'c\u2028d' });
  });
  const code = await runCommandLine(program, [], () => 0);
  t.equal(code, 2);
  t.same(written, [
    'NAME\tAGE\npod\\u001b[2J\t1\n',
    'x: no pod \\u202e"a\\u009bb"; found c\\u2028d\n',
  ]);
});
