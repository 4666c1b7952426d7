import { chmodSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { LogFile, logged } from '../../../cli/process/log-file.ts';
import type { Surroundings } from '../../../cli/surroundings.ts';
import { durationText, parseDuration } from '../../../lib/base/duration.ts';
import { Failure } from '../../../lib/base/errors/failure.ts';

const NAME = '.sno.log';
const at = new Date('2026-01-02T03:04:05Z');
const surroundings: Surroundings = {
  environment: {},
  print: () => undefined,
  complain: () => undefined,
  notice: () => undefined,
  wrote: () => undefined,
  answers: async function* () {},
  signal: new AbortController().signal,
};

t.test('lines are buffered until the work starts, then written at once', async (t) => {
  const dir = t.testdir();
  const log = new LogFile(dir);
  log.add('info', 'first', at);
  t.same(readdirSync(dir), []);
  log.begin();
  log.add('error', 'two\nlines "quoted"', at);
  t.equal(
    readFileSync(join(dir, NAME), 'utf8'),
    'time="2026-01-02T03:04:05.000Z" level=info msg="first"\n' +
      'time="2026-01-02T03:04:05.000Z" level=error msg="two\\nlines \\"quoted\\""\n',
  );
  t.equal(statSync(join(dir, NAME)).mode & 0o777, 0o600);
  log.end();
});

t.test('a log is appended to, not readable by others, and contains no secrets', async (t) => {
  const dir = t.testdir({ [NAME]: 'before\n' });
  chmodSync(join(dir, NAME), 0o644);
  const log = new LogFile(dir);
  log.begin();
  log.add('info', 'fetch https://me:hunter2@example.com/x', at);
  log.end();
  const text = readFileSync(join(dir, NAME), 'utf8');
  t.match(text, /^before\ntime=.*example\.com/);
  t.notMatch(text, /hunter2/);
  t.equal(statSync(join(dir, NAME)).mode & 0o777, 0o600);
});

t.test('the log has a maximum size', async (t) => {
  const dir = t.testdir({ [NAME]: 'x'.repeat(1024 * 1024) });
  const log = new LogFile(dir);
  log.begin();
  log.add('info', 'y'.repeat(1_000_000), at);
  log.end();
  t.same(readdirSync(dir).toSorted(), [NAME, `${NAME}.1`]);
  t.ok(statSync(join(dir, NAME)).size < 10_000, 'a long line is cut');
});

t.test('a link is not followed, and an unwritable log stops nothing', async (t) => {
  const dir = t.testdir({ elsewhere: '' });
  symlinkSync(join(dir, 'elsewhere'), join(dir, NAME));
  for (const folder of [dir, join(dir, 'missing'), join(dir, 'elsewhere')]) {
    const log = new LogFile(folder);
    log.begin();
    log.add('info', 'text', at);
    log.end();
  }
  t.equal(readFileSync(join(dir, 'elsewhere'), 'utf8'), '');
});

const ENDINGS: readonly { name: string; error?: Error; has?: RegExp }[] = [
  { name: 'done', has: /level=info msg="printed"\n.* level=warn msg="to know"\n$/ },
  { name: 'refused input', error: new Failure('usage', 'wrong') },
  {
    name: 'a failure',
    error: new Failure('retry', 'no luck'),
    has: /level=error msg="no luck"\n$/,
  },
];
for (const { name, error, has } of ENDINGS) {
  t.test(`the log of a command: ${name}`, async (t) => {
    const dir = t.testdir();
    const run = logged(dir, surroundings, async ({ print, notice }) => {
      print('printed');
      notice('to know');
      if (error !== undefined) throw error;
    });
    if (error === undefined) await run;
    else await t.rejects(run, error);
    if (has === undefined) t.same(readdirSync(dir), [], 'nothing is written');
    else t.match(readFileSync(join(dir, NAME), 'utf8'), has);
  });
}

for (const [text, milliseconds, printed] of [
  ['90m', 5_400_000, '1h30m0s'],
  ['1h30m', 5_400_000, '1h30m0s'],
  ['45s', 45_000, '45s'],
  ['2m5s', 125_000, '2m5s'],
] as const) {
  t.test(`the duration ${text}`, async (t) => {
    t.equal(parseDuration('--timeout', text), milliseconds);
    t.equal(durationText(milliseconds), printed);
  });
}
for (const text of ['', '0s', '90', '-5m', '1.5h', '5m1h', '600h', '99999999999h', 'm']) {
  t.test(`not a duration: ${JSON.stringify(text)}`, async (t) =>
    t.throws(() => parseDuration('--timeout', text), { kind: 'usage', message: /--timeout/ }),
  );
}
