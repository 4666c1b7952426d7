import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { Tester } from '../../unit/engine/steps/tester.ts';

t.test('output of a run, and of an invalid command line', async (t) => {
  const folders = t.testdir(Object.fromEntries(Array.from('abcde', (name) => [name, {}])));
  const table: {
    args?: string[];
    env?: Record<string, string>;
    code: number;
    stdout?: RegExp;
    stderr?: RegExp;
    status?: object;
    ran?: string[];
  }[] = [
    {
      code: 0,
      stdout: /^tester-unit: everything is done$/m,
      status: { state: 'done', exitCode: 0, step: { name: 'finish', number: 3, of: 3 } },
      ran: ['prepare', 'middle', 'finish'],
    },
    { args: ['run', '--from', 'nowhere'], code: 2, stdout: /tester has no step nowhere/, ran: [] },
    { args: ['run', '--sideways'], code: 2, stderr: /unknown option '--sideways'/, ran: [] },
    { args: ['fly'], code: 2, stderr: /unknown command 'fly'/, ran: [] },
    { args: [], code: 2, stderr: /Usage: tester/, ran: [] },
  ];
  const runs = table.map(async ({ args = ['run'], env = {}, code, ...expected }, index) => {
    const tester = new Tester(join(folders, String.fromCharCode(97 + index)));
    const ended = await tester.run(args, env);
    const name = `${args.join(' ')} ${JSON.stringify(env)}`;
    t.equal(ended.code, code, `${name}: exit code ${code}`);
    if (expected.stdout !== undefined) t.match(ended.stdout, expected.stdout, name);
    if (expected.stderr !== undefined) t.match(ended.stderr, expected.stderr, name);
    if (expected.status !== undefined) t.match(await tester.readStatus(), expected.status, name);
    if (expected.ran !== undefined) t.strictSame(tester.ran(), expected.ran, name);
  });
  await Promise.all(runs);
});

t.test('plan and status', async (t) => {
  const tester = new Tester(t.testdir());
  const [plan, before] = await Promise.all([tester.run(['plan']), tester.run(['status'])]);
  t.equal(plan.code, 0);
  t.equal(
    plan.stdout,
    `tester: tests the engine

 1  prepare      1m  prepare.done
 2  middle       1m  middle.done
 3  finish       1m  finish.done
`,
  );
  t.match(before, {
    code: 0,
    stdout: /^tester: has not run since the host started\n {2}prepare {2}-\n/,
  });
  t.notOk(existsSync(tester.journal), 'asking leaves nothing');

  await tester.run(['run', '--until', 'middle'], { BEHAVIOUR: 'not-yet' });
  const [status, json] = await Promise.all([
    tester.run(['status']),
    tester.run(['status', '--json']),
  ]);
  const when = '\\(20\\d\\d-[^)]*Z\\)';
  t.match(status.stdout, /^tester: failed: middle: the moon is not up$/m);
  t.match(status.stdout, new RegExp(`^ {2}prepare {2}done in [\\d.]+s ${when}$`, 'm'));
  t.match(
    status.stdout,
    new RegExp(`^ {2}middle {3}attempt-failed ${when}: the moon is not up$`, 'm'),
  );
  t.match(status.stdout, /^ {2}finish {3}-$/m);
  t.match(JSON.parse(json.stdout), {
    status: { agent: 'tester', unit: 'tester-unit', state: 'failed', exitCode: 1 },
    journal: [
      { step: 'prepare', event: 'started', attempt: 1 },
      { step: 'prepare', event: 'done', seconds: Number, waited: Number, cpu: Number },
      { step: 'middle', event: 'started' },
      {
        step: 'middle',
        event: 'attempt-failed',
        failure: { code: 'unavailable', kind: 'retry', what: 'the moon is not up' },
      },
    ],
  });
});

t.test('the status of a running agent: what it waits for, since when, until when', async (t) => {
  const tester = new Tester(t.testdir());
  const began = Date.now();
  const running = tester.start(['run'], { BEHAVIOUR: 'long-wait' });
  const { step } = await tester.statusWhen(({ step }) => step?.waitingFor !== undefined);
  t.match(step, { name: 'middle', number: 2, of: 3, attempt: 1, waitingFor: 'the moon' });
  const since = Date.parse(step?.since ?? '');
  const until = Date.parse(step?.until ?? '');
  t.ok(since >= began && since <= Date.now(), 'since it began');
  t.ok(until >= since + 60_000 && until <= Date.now() + 60_000, 'until its deadline');
  t.match((await running.kill('SIGTERM')).stdout, /^middle: waiting for the moon left=\d+s$/m);
});

t.test('since is not the start of the last attempt', async (t) => {
  const tester = new Tester(t.testdir());
  const running = tester.start(['run'], { BEHAVIOUR: 'not-yet', RETRY_MS: '60' });
  const first = await tester.statusWhen(({ step }) => step?.name === 'middle');
  const later = await tester.statusWhen(({ step }) => (step?.attempt ?? 0) >= 3);
  t.equal(later.step?.since, first.step?.since);
  await running.kill('SIGTERM');
});

t.test('a record or status that cannot be written does not end the work', async (t) => {
  const tester = new Tester(t.testdir());
  for (const path of [tester.record, tester.status]) mkdirSync(path, { recursive: true });
  const ended = await tester.run(['run']);
  t.match(ended, { code: 0, stdout: /everything is done/ });
  rmSync(dirname(tester.record), { recursive: true });
  writeFileSync(dirname(tester.record), 'not a folder');
  chmodSync(dirname(tester.record), 0o400);
  t.equal((await tester.run(['run'], { INPUT: 'other', BEHAVIOUR: 'fatal' })).code, 4);
});
