/** The steps of sno-trial one by one, and what its command says for people and for programs. */
import t, { type Test } from 'tap';
import { concludeTrial } from '../../../../agents/upkeep/trial/conclude.ts';
import { countBoot, decide } from '../../../../agents/upkeep/trial/decide.ts';
import { runTrial } from '../../../../agents/upkeep/trial/main.ts';
import {
  database,
  filesPutBack,
  networkPutBack,
} from '../../../../agents/upkeep/trial/put-back.ts';
import { Failure } from '../../../../lib/base/errors/failure.ts';
import { restoreChange } from '../../../../lib/change/restore/request.ts';
import type { Progress } from '../../../../lib/engine/steps/progress.ts';
import { confirmTrial, endReverted } from '../../../../lib/engine/trial/arm.ts';
import {
  readLast,
  readTrial,
  recordReverting,
  writeLast,
  writeTrial,
} from '../../../../lib/engine/trial/store.ts';
import type { EndedTrial, Trial } from '../../../../lib/engine/trial/trial.ts';
import { bootMoment } from '../../../../lib/host/boot.ts';
import {
  arm,
  change,
  ID,
  KEPT_EXECUTABLE,
  MOVED,
  OPTIONS,
  PROFILES,
  RECORD,
  snapshot,
  unchangedHost,
} from '../../engine/trial/changed-host.ts';
import type { TestHost } from '../host/host.ts';

const reason = { code: 'deadline', kind: 'deadline', what: 'it did not settle' } as const;
const asked = { code: 'way-back-requested', kind: 'usage', what: 'somebody asked' } as const;

async function called(host: TestHost, ...args: string[]) {
  let text = '';
  const write = (part: string) => {
    text += part;
  };
  const code = await runTrial(host.paths, args, { write });
  return { code, text };
}

/** What its status says of trials: the lines after those of the agent's own last run. */
const report = async (host: TestHost) =>
  (await called(host, 'status')).text.replace(/^[\s\S]*?(?=^(nothing|the change|last:))/m, '');
const data = async (host: TestHost) => {
  const { trial, last } = JSON.parse((await called(host, 'status', '--json')).text);
  return { trial, last };
};

async function changed(t: Test, more: Partial<Trial> = {}) {
  const host = unchangedHost(t);
  const before = snapshot(host);
  const trial = { ...(await arm(host)), ...more };
  await change(host);
  await writeTrial(host.paths, trial);
  return { host, before, trial };
}

const ended = (more: Partial<EndedTrial>): EndedTrial => ({
  schemaVersion: 1,
  id: ID,
  what: 'the change',
  endedAt: '2030-01-01T00:00:00Z',
  outcome: 'reverted',
  problems: [],
  ...more,
});

t.test('without a trial every step holds, and none has an effect', async (t) => {
  const host = unchangedHost(t);
  const before = snapshot(host);
  const context = { paths: host.paths, now: await bootMoment(), isFirstRun: false };
  for (const step of [countBoot, decide, networkPutBack, filesPutBack, database, concludeTrial]) {
    t.ok(await step.holds(context, host.progress()), step.name);
    t.match(await step.run(context, host.progress()), { kind: 'done', note: /^nothing is/ });
  }
  t.same(snapshot(host), before);
  t.notOk(host.has(RECORD));
});

t.test('while the change is on trial, nothing is put back or ended', async (t) => {
  const { host, trial } = await changed(t);
  const after = snapshot(host);
  const context = { paths: host.paths, now: await bootMoment(), isFirstRun: false };
  for (const step of [countBoot, decide, networkPutBack, filesPutBack, database, concludeTrial])
    t.ok(await step.holds(context, host.progress()), step.name);
  for (const step of [networkPutBack, filesPutBack, database, concludeTrial])
    t.match(await step.run(context, host.progress()), { note: 'nothing is taken back' });
  t.same(await decide.run(context, host.progress()), {
    kind: 'done',
    note: 'to be confirmed within 30 min; restarts left: 1',
  });
  t.same(snapshot(host), after);
  t.same(await readTrial(host.paths), trial);
});

t.test('on the way back each step says what is left of it', async (t) => {
  const { host } = await changed(t, { reverting: reason });
  const now = await bootMoment();
  const first = { paths: host.paths, now, isFirstRun: true };
  const later = { ...first, isFirstRun: false };
  t.ok(await decide.holds(first, host.progress()));
  t.notOk(await decide.holds(later, host.progress()), 'files are put back in the first run alone');
  t.match(await decide.run(later, host.progress()), { kind: 'reboot', reason: /did not settle/ });
  t.match(await decide.run(first, host.progress()), { kind: 'done', note: /did not settle/ });
  for (const step of [networkPutBack, filesPutBack]) {
    t.notOk(await step.holds(first, host.progress()), step.name);
    t.match(await step.run(first, host.progress()), { note: /^put back: \// });
    t.ok(await step.holds(first, host.progress()), step.name);
    t.same(await step.run(first, host.progress()), { kind: 'done', note: 'as it was' });
  }
  t.notOk(await concludeTrial.holds(first, host.progress()));
});

t.test('with SELinux, what was put back has its labels before the trial has ended', async (t) => {
  const { host } = await changed(t, { reverting: reason });
  host.write('/sys/fs/selinux/enforce', '1');
  const files = [
    `${PROFILES}/eth0.nmconnection`,
    '/etc/kubernetes/kubelet.yaml',
    '/etc/kubernetes/secret',
  ].map((name) => host.at(name));
  const goesOn = `test -f ${host.at(RECORD)} || exit 1`;
  host.programs.give('setfiles', `${goesOn}\ntr '\\0' '\\n' >> "$ROOT/labelled"`);
  const context = { paths: host.paths, now: await bootMoment(), isFirstRun: true };
  await networkPutBack.run(context, host.progress());
  await filesPutBack.run(context, host.progress());
  await t.rejects(concludeTrial.run(context, host.progress()), { code: 'trial-reverted' });
  t.same(host.read('/labelled').trim().split('\n'), files, 'those that existed before');
  t.same(host.lines, [], 'nothing to be said');
});

for (const [how, script] of Object.entries({ fails: 'exit 1', hangs: 'exec sleep 60' })) {
  t.test(`with SELinux, a setfiles that ${how} does not keep the host`, async (t) => {
    const { host, before } = await changed(t, { reverting: reason });
    host.write('/sys/fs/selinux/enforce', '1');
    host.programs.give('setfiles', script);
    const context = { paths: host.paths, now: await bootMoment(), isFirstRun: true };
    for (const step of [networkPutBack, filesPutBack]) await step.run(context, host.progress());
    const end = concludeTrial.run(context, host.progress(undefined, 2001));
    await t.rejects(end, { code: 'trial-reverted' });
    t.match(host.lines.pop(), /may lack its SELinux labels: command "setfiles .*" failed/);
    host.remove('/sys/fs/selinux/enforce');
    t.same(snapshot(host), before);
  });
}

t.test('told to stop while it labels what was put back, the trial has not ended', async (t) => {
  const { host } = await changed(t, { reverting: reason });
  host.write('/sys/fs/selinux/enforce', '1');
  host.programs.give('setfiles', 'touch "$ROOT/begun"; exec sleep 60');
  const context = { paths: host.paths, now: await bootMoment(), isFirstRun: true };
  for (const step of [networkPutBack, filesPutBack]) await step.run(context, host.progress());
  const end = (progress: Progress) => concludeTrial.run(context, progress);
  t.match(await host.stoppedAt('/begun', end), { message: 'told to stop' });
  t.ok(host.has(RECORD), 'the next run labels it');
  t.equal(await readLast(host.paths), undefined);
});

t.test('a part that failed is left alone, and the others are not', async (t) => {
  const problem = { part: 'files', failure: reason } as const;
  const { host } = await changed(t, { reverting: reason, problems: [problem] });
  const after = snapshot(host);
  const context = { paths: host.paths, now: await bootMoment(), isFirstRun: true };
  t.ok(await filesPutBack.holds(context, host.progress()));
  t.match(await filesPutBack.run(context, host.progress()), { note: 'not tried again' });
  t.same(snapshot(host), after);
  t.notOk(await networkPutBack.holds(context, host.progress()));
  const note = await networkPutBack.instead?.(context, new Failure('fatal', 'a copy is damaged'));
  t.match(note, /^not put back: /);
});

t.test('the restore of the database is requested once', async (t) => {
  const backup = '20300102T030405Z';
  const points = { ...(await changed(t)).trial.points, database: backup };
  const { host } = await changed(t, { reverting: reason, points });
  const context = { paths: host.paths, now: await bootMoment(), isFirstRun: true };
  t.notOk(await database.holds(context, host.progress()));
  t.match(await database.run(context, host.progress()), { note: `put back: the backup ${backup}` });
  t.ok(await database.holds(context, host.progress()));
  const requested = await restoreChange.read(host.paths);
  t.ok(Math.abs(Date.parse(requested?.requestedAt ?? '') - Date.now()) < 600_000);
  t.same(await database.run(context, host.progress()), { kind: 'done', note: 'as it was' });
  t.same(await restoreChange.read(host.paths), requested, 'as it was requested');
});

t.test(
  'killed while a confirmed trial is deleted: the change stays, and that goes on',
  async (t) => {
    const { host, trial } = await changed(t);
    await confirmTrial(host.paths, AbortSignal.timeout(60_000));
    await writeTrial(host.paths, trial);
    host.write(KEPT_EXECUTABLE, 'left over', 0o755);
    host.write(`${MOVED.aside}/payload.yaml`, 'left over');
    const after = snapshot(host);
    const last = await report(host);
    t.match(last, /^last: the change was confirmed at .*Z\n$/, 'it is no longer on trial');
    const run = await called(host, 'run');
    t.equal(run.code, 0);
    t.match(run.text, /it has ended/);
    t.same(snapshot(host), after);
    for (const path of [RECORD, KEPT_EXECUTABLE, MOVED.aside]) t.notOk(host.has(path), path);
  },
);

t.test(
  'killed while a reverted trial is deleted: that is said, and nothing put back',
  async (t) => {
    const { host, trial } = await changed(t, { reverting: reason });
    const after = snapshot(host);
    const context = { paths: host.paths, now: await bootMoment(), isFirstRun: true };
    const { endedAt } = await endReverted(host.paths, trial);
    t.match(await decide.run(context, host.progress()), { kind: 'done', note: 'it has ended' });
    t.ok(await decide.holds(context, host.progress()));
    t.ok(await filesPutBack.holds(context, host.progress()));
    await t.rejects(concludeTrial.run(context, host.progress()), {
      code: 'trial-reverted',
      message: /the change was taken back.*it did not settle/,
    });
    t.same(snapshot(host), after);
    t.notOk(host.has(RECORD));
    t.equal((await readLast(host.paths))?.endedAt, endedAt, 'its end is recorded once');
    t.equal(
      await report(host),
      `nothing is on trial\nlast: the change was taken back at ${endedAt}: it did not settle\n`,
    );
  },
);

t.test('asked to go back, and not completely back: it has failed', async (t) => {
  const problems = [
    { part: 'network', failure: { ...reason, what: 'a copy is damaged' } },
    { part: 'files', failure: { ...reason, what: 'the disk is full' } },
  ] as const;
  const { host } = await changed(t, { reverting: asked, problems: [...problems] });
  const context = { paths: host.paths, now: await bootMoment(), isFirstRun: true };
  await t.rejects(concludeTrial.run(context, host.progress()), {
    code: 'trial-incomplete',
    message: /not completely.*somebody asked/s,
    details: { parts: [{ what: 'a copy is damaged' }, { what: 'the disk is full' }] },
  });
  t.match(await readLast(host.paths), { outcome: 'incomplete', reason: asked, problems });
  t.match(
    await report(host),
    /was taken back incompletely at .*: somebody asked\n {2}not put back: network: a copy is damaged\n {2}not put back: files: the disk is full\n$/,
  );
});

t.test('the status of a host that never had a trial', async (t) => {
  const host = unchangedHost(t);
  t.equal(await report(host), 'nothing is on trial\n');
  t.same(await data(host), { trial: null, last: null });
});

t.test('the status of a trial names its beginning, and how the one before ended', async (t) => {
  const { host, trial } = await changed(t);
  await writeLast(host.paths, ended({ id: ID.replace('111', '222'), reason }));
  t.equal(
    await report(host),
    `the change is on trial since ${trial.armedAt}: taken back in 30 min, or after 2 more restarts, unless it is confirmed\n` +
      'last: the change was taken back at 2030-01-01T00:00:00Z: it did not settle\n',
  );
  t.match(await data(host), { trial, last: { reason } });
  await recordReverting(host.paths, asked);
  t.equal(await report(host), 'the change is being taken back: somebody asked\n');
});

t.test('before the agent has counted a boot, the status counts it', async (t) => {
  const boots = [{ boot: 'first', up: 1 }];
  const { host } = await changed(t, { boots, bootsCount: OPTIONS.bootsCount });
  t.match(await report(host), /in 30 min, or after 1 more restarts/);
  t.same((await readTrial(host.paths))?.boots, boots);
});
