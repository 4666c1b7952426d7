/** `--json`: what a program reads instead of lines. */
import { join } from 'node:path';
import t from 'tap';
import { snoResultSchema } from '../../../cli/process/json-result.ts';
import { GOOD } from './install-config-file.ts';
import { sno } from './run-sno.ts';

const resultOf = (out: string) => snoResultSchema.strict().parse(JSON.parse(out));

t.test('what was written, and nothing else on standard output', async (t) => {
  const dir = t.testdir();
  const { code, out, err } = await sno(['create', 'install-config', '--dir', dir, '--json']);
  t.equal(code, 0, err);
  t.equal(err, '');
  t.match(resultOf(out), {
    command: 'create install-config',
    exitCode: 0,
    written: [join(dir, 'install-config.yaml')],
    output: [/^Replace each <...> in it, then: sno verify install-config/],
  });
});

t.test('notices are apart from the output', async (t) => {
  const dir = t.testdir({ 'install-config.yaml': GOOD, 'agent-config.yaml': 'a: b\n' });
  const args = ['verify', 'install-config', '--dir', dir];
  const plain = await sno(args);
  t.match(plain.err, /^Notice: [^\n]*agent-config\.yaml/m);
  const { code, out, err } = await sno([...args, '--json']);
  t.equal(code, 0, err);
  const { notices, output } = resultOf(out);
  t.same(
    notices.map((notice) => `Notice: ${notice}`),
    plain.err.split('\n'),
  );
  t.same(output, plain.out.split('\n'));
});

t.test('a refusal is an object, too, and said on standard error as always', async (t) => {
  const dir = t.testdir({ 'install-config.yaml': 'apiVersion: v1\n' });
  const args = ['verify', 'install-config', '--dir', dir, '--json'];
  const { code, out, err } = await sno(args);
  t.equal(code, 2);
  t.match(err, /^sno: /);
  const { exitCode, failure } = resultOf(out);
  t.equal(exitCode, 2);
  t.match(failure, { kind: 'usage' });
  t.ok(err.includes(failure?.what ?? 'nothing'));
});

t.test('commands that print documents keep their own form', async (t) => {
  const { out } = await sno(['explain', 'versions', '--json']);
  t.notOk(snoResultSchema.safeParse(JSON.parse(out)).success);
});
