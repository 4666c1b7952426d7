import { readFileSync } from 'node:fs';
import t from 'tap';
import { expectTold } from '../../../lab/relocate/network-faults.ts';
import { formsOf, TRACES } from '../../../lab/relocate/traces.ts';
import { expectUnchanged } from '../../../lab/relocate/unchanged.ts';
import { EXIT } from '../../../lib/base/errors/exit-codes.ts';

t.test('a text is found in base64, wherever it begins', async (t) => {
  const needle = 'lab.example.test';
  for (const before of ['', 'a', 'ab', 'abc']) {
    const encoded = Buffer.from(`${before}${needle} and more`).toString('base64');
    t.ok(
      formsOf(needle).some((form) => encoded.includes(form)),
      encoded,
    );
  }
  t.notOk(formsOf(needle).some((form) => 'bm90aGluZw=='.includes(form)));
});

t.test('a way back that forgets something is found out', async (t) => {
  const before = new Map([
    ['/etc/hostname', 'a'],
    ['/etc/gone', 'b'],
    ['route to default', '10.0.0.1 eth0'],
  ]);
  t.doesNotThrow(() => expectUnchanged(before, new Map(before)));
  const after = new Map([
    ['/etc/hostname', 'other'],
    ['/etc/new', 'c'],
  ]);
  t.throws(() => expectUnchanged(before, after), {
    message:
      /hostname changed; \/etc\/gone gone; route to default: 10\.0\.0\.1 eth0, now none; \/etc\/new new/,
  });
});

t.test('the technician is told what to do, on the prompt or on the console', async (t) => {
  const told = { outcome: 'reverted', codes: ['site-check'], exitCode: EXIT.fatal, fix: /cable/ };
  const ended = {
    outcome: 'reverted',
    code: 'site-check',
    exitCode: EXIT.fatal,
    prompt: 'What to do: Check the cable',
    console: '',
  };
  t.doesNotThrow(() => expectTold(ended, told));
  const refused = { ...ended, outcome: 'not accepted', prompt: '', console: 'the cable' };
  t.doesNotThrow(() => expectTold(refused, { ...told, outcome: 'not accepted' }));
  for (const other of [
    { outcome: 'configured' },
    { code: 'site-link' },
    { exitCode: EXIT.usage },
    { prompt: 'FAILED' },
  ]) {
    t.throws(() => expectTold({ ...ended, ...other }, told), { message: /ended otherwise/ });
  }
});

t.test('what stays of the factory is documented', async (t) => {
  const page = readFileSync(new URL('../../../docs/relocation.md', import.meta.url), 'utf8');
  for (const { path, why } of TRACES) {
    t.ok(page.includes(`| \`${path}\` | ${why} |`), path);
  }
});
