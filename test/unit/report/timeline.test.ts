import t from 'tap';
import { scaleOf } from '../../../report/html/scale.ts';
import { timelineOf } from '../../../report/timeline/timeline.ts';
import { json, M, step } from './rule-case.ts';
import { filesOf, viewOf } from './view.ts';

const clock = (ms: number | undefined) =>
  ms === undefined ? undefined : new Date(ms).toISOString().slice(11, 19);

function rows(files: Record<string, string>) {
  return timelineOf(viewOf(files)).runs.map((run) =>
    [run.agent, run.step, clock(run.startMs), clock(run.endMs), run.result, run.attempts].join(' '),
  );
}

t.test('steps of both hosts, with the reboot between them', async (t) => {
  const { runs, reboots } = timelineOf(viewOf(filesOf('broken')));
  t.strictSame(
    [...new Set(runs.map(({ agent }) => agent))],
    [
      'bootkube',
      'install-to-disk',
      'approve-csr',
      'progress',
      'sno-payload',
      'sno-certificates',
      'sno-restore',
      'post-reboot',
    ],
  );
  t.strictSame(
    reboots.map(({ fromMs, toMs }) => [clock(fromMs), clock(toMs)]),
    [['14:58:07', '14:58:27']],
  );
  t.match(runs.at(-1), { step: 'bootstrap-complete', result: 'failed', attempts: 2 });
});

t.test('copies of a journal count once', async (t) => {
  const journal =
    step('15:00:00', 'etcd', 'started') +
    step('15:00:01', 'etcd', 'attempt-failed', 'not yet') +
    step('15:00:03', 'etcd', 'started', undefined, { attempt: 2 }) +
    step('15:00:05', 'etcd', 'done', undefined, { attempt: 2, seconds: 2 });
  const files = {
    [`${M}/steps/live/bootkube.jsonl`]: journal,
    'log-bundle-bootstrap/bootstrap/steps/bootkube.jsonl': journal
      .split('\n')
      .slice(0, 3)
      .join('\n'),
  };
  t.strictSame(rows(files), ['bootkube etcd 15:00:00 15:00:05 done 2']);
});

t.test('a run that the reboot ended does not continue', async (t) => {
  const files = {
    'log-bundle-bootstrap/bootstrap/steps/progress.jsonl': step(
      '15:00:00',
      'show-progress',
      'started',
    ),
    [`${M}/steps/sno-payload.jsonl`]: step('15:03:00', 'install-payload', 'started'),
  };
  t.strictSame(rows(files), [
    'progress show-progress 15:00:00 15:00:00 interrupted 1',
    'sno-payload install-payload 15:03:00  running 1',
  ]);
});

t.test('a power cut ends a run, and the next boot begins another', async (t) => {
  const files = {
    [`${M}/steps/post-reboot.jsonl`]:
      step('15:00:00', 'api', 'started') +
      step('15:03:00', 'api', 'started', undefined, { boot: 'b2', attempt: 2 }) +
      step('15:03:09', 'api', 'done', undefined, { boot: 'b2', attempt: 2 }) +
      step('15:03:10', 'node-ready', 'started', undefined, { boot: 'b2' }),
  };
  t.strictSame(rows(files), [
    'post-reboot api 15:00:00 15:00:00 interrupted 1',
    'post-reboot api 15:03:00 15:03:09 done 1',
    'post-reboot node-ready 15:03:10  running 1',
  ]);
  t.strictSame(
    timelineOf(viewOf(files)).reboots.map(({ fromMs, toMs }) => [clock(fromMs), clock(toMs)]),
    [['15:00:00', '15:03:00']],
  );
});

t.test('a killed agent that resumes in the same boot is one run', async (t) => {
  const files = {
    'bootstrap/steps/bootkube.jsonl':
      step('15:00:00', 'etcd', 'started') +
      step('15:00:07', 'etcd', 'started', undefined, { attempt: 2 }) +
      step('15:00:09', 'etcd', 'done'),
  };
  t.strictSame(rows(files), ['bootkube etcd 15:00:00 15:00:09 done 2']);
});

t.test('after the clean-up, the record and the service records are used', async (t) => {
  const entry = (at: string, phase: string, more: object = {}) => ({
    timestamp: `2026-11-21T${at}Z`,
    phase,
    ...more,
  });
  const named = (agent: string, name: string, seconds: number) => ({
    agent,
    name,
    seconds,
    waited: 0,
    attempts: 1,
  });
  const files = {
    [`${M}/agents/record.json`]: json({
      installed: '2026-11-21T15:00:00Z',
      completed: '2026-11-21T15:05:00Z',
      steps: [
        named('bootkube', 'etcd', 10),
        named('bootkube', 'finish', 20),
        named('install-to-disk', 'wait-for-bootkube', 30),
        named('install-to-disk', 'write-disk', 40),
        named('post-reboot', 'api', 10),
      ],
    }),
    [`${M}/services/bootkube.json`]: json([
      entry('15:01:00', 'service start'),
      entry('15:01:01', 'stage start', { stage: 'api' }),
      entry('15:01:09', 'stage end', { stage: 'api', result: 'failure', errorMessage: 'no' }),
    ]),
  };
  t.strictSame(rows(files), [
    'bootkube etcd 14:58:50 14:59:00 done 1',
    'bootkube finish 14:59:00 14:59:20 done 1',
    'install-to-disk wait-for-bootkube 14:58:50 14:59:20 done 1',
    'install-to-disk write-disk 14:59:20 15:00:00 done 1',
    'post-reboot api 15:01:01 15:01:09 failed 1',
  ]);
  t.strictSame(
    timelineOf(viewOf(files)).runs.map(({ isEstimated }) => isEstimated),
    [true, true, true, true, false],
  );
});

t.test('the axis is linear, and long pauses take at most half of it in total', async (t) => {
  const minute = 60_000;
  const linear = scaleOf([0, 5 * minute, 20 * minute]);
  t.equal(linear.at(0), 0);
  t.equal(linear.at(5 * minute), 25);
  t.equal(linear.at(20 * minute), 100);
  t.strictSame(linear.breaks, []);
  const days = 24 * 60 * minute;
  const folded = scaleOf([0, 20 * minute, 40 * minute, 3 * days, 3 * days + minute, 9 * days]);
  t.equal(folded.breaks.length, 2);
  t.ok(folded.at(40 * minute) >= 45, `${folded.at(40 * minute)}`);
  t.equal(folded.at(9 * days), 100);
  t.ok(linear.ticks.length >= 3 && linear.ticks.length <= 7);
  t.strictSame(scaleOf([5]).at(5), 0, 'a single moment is a scale too');
});
