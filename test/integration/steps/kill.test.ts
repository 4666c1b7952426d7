import { appendFileSync, readFileSync } from 'node:fs';
import t from 'tap';
import type { AgentStatus } from '../../../lib/engine/steps/status.ts';
import { bootMoment } from '../../../lib/host/boot.ts';
import { Tester } from '../../unit/engine/steps/tester.ts';

const inMiddle = (status: AgentStatus) =>
  status.step?.name === 'middle' && status.step.attempt > 0 && status.step.waitingFor !== undefined;

t.test(
  'after kill -9 inside a step the agent resumes at that step, with the same deadline',
  async (t) => {
    const tester = new Tester(t.testdir());
    const first = tester.start(['run'], { BEHAVIOUR: 'long-wait' });
    await tester.statusWhen(inMiddle);
    t.strictSame(await tester.story(), ['prepare started', 'prepare done', 'middle started']);
    t.equal((await first.kill('SIGKILL')).signal, 'SIGKILL');
    const { up: killed } = await bootMoment();

    const asked = await tester.run(['status']);
    t.match(asked.stdout, /stopped: its process was killed in step middle/);

    // Half a line, as left by a power cut.
    appendFileSync(tester.journal, '{"at":"2026-01-01T00:00:00Z","bo');
    const second = tester.start(['run'], { BEHAVIOUR: 'long-wait' });
    await tester.statusWhen((status) => inMiddle(status) && status.step?.attempt === 2);
    t.equal((await second.kill('SIGKILL')).signal, 'SIGKILL');

    const began = (await tester.entries()).find(({ step }) => step === 'middle')?.up ?? 0;
    const [, , leftMs] = tester.trace().filter(([name]) => name === 'middle')[1] ?? [];
    const mostMs = 60_000 - (killed - began) * 1000;
    t.ok(Number(leftMs) <= mostMs, `${leftMs} ms were left, at most ${mostMs}`);

    const third = await tester.run(['run'], { BEHAVIOUR: 'good' });
    t.match(third, { code: 0, stdout: /prepare: already done/ });
    t.strictSame(tester.ran(), ['prepare', 'middle', 'middle', 'middle', 'finish']);
    t.strictSame(await tester.story(), [
      'prepare started',
      'prepare done',
      'middle started',
      'middle started',
      'middle started',
      'middle done',
      'finish started',
      'finish done',
    ]);
    t.equal((await tester.entries()).findLast(({ step }) => step === 'middle')?.attempt, 3);
    const lines = readFileSync(tester.journal, 'utf8').trimEnd().split('\n');
    t.strictSame(
      lines.filter((line) => !line.endsWith('}')),
      ['{"at":"2026-01-01T00:00:00Z","bo'],
      'the torn line is kept apart',
    );
    // When a step ran, the journal on the disk had all earlier steps and its own start.
    t.strictSame(
      tester.trace().map(([name, events]) => `${name} ${events}`),
      ['prepare 1', 'middle 3', 'middle 5', 'middle 6', 'finish 8'],
    );

    const fourth = await tester.run(['run']);
    t.equal(fourth.code, 0);
    t.equal(tester.ran().length, 5, 'nothing runs again when all is done');
  },
);

t.test('one run at a time, with a lock that is released when its process ends', async (t) => {
  const tester = new Tester(t.testdir());
  const first = tester.start(['run'], { BEHAVIOUR: 'long-wait' });
  await tester.statusWhen(inMiddle);

  const second = await tester.run(['run']);
  t.match(second, {
    code: 2,
    stderr: /^tester: tester is already running on this host\. .*tester status/,
  });
  t.match(await tester.readStatus(), { state: 'running' }, 'the first one is not disturbed');
  t.match(
    (await tester.run(['status'])).stdout,
    /running step 2 of 3, middle, waiting for the moon/,
  );

  await first.kill('SIGKILL');
  t.equal((await tester.run(['run'], { BEHAVIOUR: 'good' })).code, 0, 'free at once');
});

t.test('a stop ends a wait, and the next run resumes there', async (t) => {
  const tester = new Tester(t.testdir());
  const first = tester.start(['run'], { BEHAVIOUR: 'long-wait' });
  await tester.statusWhen(inMiddle);
  const ended = await first.kill('SIGTERM');
  t.match(ended, { code: 1, stdout: /told to stop; it resumes here/ });
  t.match(await tester.readStatus(), { state: 'stopped', exitCode: 1, reason: 'told to stop' });
  t.equal((await tester.story()).at(-1), 'middle stopped');
  t.equal((await tester.run(['run'])).code, 0);
  t.strictSame(tester.ran(), ['prepare', 'middle', 'middle', 'finish']);

  const record: { phase: string; stage?: string; result?: string }[] = JSON.parse(
    readFileSync(tester.record, 'utf8'),
  );
  t.strictSame(
    record.map(({ phase, stage, result }) => [phase, stage, result].filter(Boolean).join(' ')),
    [
      'service start',
      'stage start prepare',
      'stage end prepare success',
      'stage start middle',
      'stage end middle failure',
      'service end failure',
      'service start',
      'stage start middle',
      'stage end middle success',
      'stage start finish',
      'stage end finish success',
      'service end success',
    ],
    'stages come in pairs',
  );
});
