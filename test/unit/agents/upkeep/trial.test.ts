/** sno-trial: which boots take a change back, that nothing is tried twice, and what its command says. */
import { rmSync, writeFileSync } from 'node:fs';
import t, { type Test } from 'tap';
import { countBoot, decide } from '../../../../agents/upkeep/trial/decide.ts';
import { runTrial } from '../../../../agents/upkeep/trial/main.ts';
import {
  readLast,
  readTrial,
  recordReverting,
  writeTrial,
} from '../../../../lib/engine/trial/store.ts';
import type { Trial } from '../../../../lib/engine/trial/trial.ts';
import { bootMoment } from '../../../../lib/host/boot.ts';
import { killedAtAnyMoment } from '../../engine/steps/killed-at-any-moment.ts';
import {
  arm,
  change,
  EXECUTABLE,
  KEPT_EXECUTABLE,
  OPTIONS,
  PROFILES,
  RECORD,
  snapshot,
  unchangedHost,
} from '../../engine/trial/changed-host.ts';
import { DAMAGE } from '../damage.ts';
import type { TestHost } from '../host/host.ts';

const REQUEST = '/var/lib/sno-agents/sno-backup-restore/request.json';
const STATUS = '/run/sno-agents/sno-trial/status.json';
const SETTINGS = '/etc/sno-agents/settings.json';

/** Runs its command line; returns the exit code and what it printed. */
async function called(host: TestHost, ...args: string[]) {
  let text = '';
  const write = (part: string) => {
    text += part;
  };
  const code = await runTrial(host.paths, args, { write });
  return { code, text };
}

/** A host with a change on trial; `boots`: those of the record, of which none is the present one. */
async function onTrial(t: Test, boots?: readonly string[], more: Partial<Trial> = {}) {
  const host = unchangedHost(t);
  // As systemd does: the restart begins with the end of every process.
  host.programs.give('systemctl', '[ "$1" != reboot ] || kill -TERM $PPID');
  const before = snapshot(host);
  const trial = await arm(host);
  await change(host);
  if (boots !== undefined || Object.keys(more).length > 0) {
    const seen = boots?.map((boot) => ({ boot, up: 10 })) ?? trial.boots;
    await writeTrial(host.paths, { ...trial, boots: seen, ...more });
  }
  const reboots = () => host.programs.calls('systemctl reboot').length;
  return { host, before, reboots };
}

t.test('without a trial it does nothing', async (t) => {
  const host = unchangedHost(t);
  t.equal((await called(host, 'run')).code, 0);
  t.same(host.programs.calls(), []);
});

t.test('the first restart is counted, and the change goes on', async (t) => {
  const { host, before, reboots } = await onTrial(t, ['an earlier boot']);
  t.equal((await called(host, 'run')).code, 0);
  const { boot } = await bootMoment();
  t.same(
    (await readTrial(host.paths))?.boots.map((each) => each.boot),
    ['an earlier boot', boot],
  );
  t.equal((await called(host, 'run')).code, 0);
  t.equal((await readTrial(host.paths))?.boots.length, 2, 'a second run counts nothing');
  t.equal(reboots(), 0);
  t.notSame(snapshot(host), before);
});

t.test('what a step has decided is on the disk when it ends', async (t) => {
  const { host } = await onTrial(t, ['first', 'second']);
  const now = await bootMoment();
  const context = { paths: host.paths, now, isFirstRun: true };
  const record = () => JSON.parse(host.read(RECORD));
  await countBoot.run(context, host.progress());
  t.equal(record().boots.at(-1).boot, now.boot);
  t.equal(record().reverting, undefined);
  t.notOk(await decide.holds(context, host.progress()));
  await decide.run(context, host.progress());
  t.match(record(), { reverting: { code: 'trial-not-confirmed' } });
  t.ok(await decide.holds(context, host.progress()));
});

t.test('interrupted while it counts, each boot counts once', async (t) => {
  const now = await bootMoment();
  await killedAtAnyMoment(t, {
    prepare: async () => (await onTrial(t, ['first'])).host,
    run: async (host) => {
      const context = { paths: host.paths, now, isFirstRun: true };
      if (!(await countBoot.holds(context, host.progress())))
        await countBoot.run(context, host.progress());
    },
    result: (host) =>
      JSON.parse(host.read(RECORD)).boots.map((each: { boot: string }) => each.boot),
    least: 5,
    isDurable: true,
  });
});

t.test(
  'a restart too many: everything is put back in that boot, without another one',
  async (t) => {
    const { host, before, reboots } = await onTrial(t, ['first', 'second']);
    t.equal((await called(host, 'run')).code, 4);
    t.same(snapshot(host), before);
    t.equal(reboots(), 0);
    t.notOk(host.has(RECORD));
    t.match(await readLast(host.paths), {
      outcome: 'reverted',
      reason: { code: 'trial-not-confirmed', found: '2 restarts' },
    });
    t.match(JSON.parse(host.read(STATUS)), {
      state: 'failed',
      failure: { code: 'trial-reverted', found: /not confirmed/, fix: /as it was before/ },
    });
    t.match(host.read('/run/sno-agents/console.issue'), /FAILED: .*the\s+change was\s+taken back/s);
    t.equal((await called(host, 'run')).code, 0, 'it is not tried twice');
    t.same(snapshot(host), before);
  },
);

for (const [what, damage] of Object.entries(DAMAGE)) {
  t.test(`it is taken back also where the settings are ${what}`, async (t) => {
    const { host, before } = await onTrial(t, ['first', 'second']);
    damage(host, SETTINGS);
    const { code, text } = await called(host, 'run');
    t.equal(code, 4, text);
    t.match(await readLast(host.paths), { outcome: 'reverted' });
    t.equal(text.match(/settings\.json cannot be used/g)?.length, 1, text);
    t.match((await called(host, 'status')).text, /Notice: the settings in .* cannot be used/);
    rmSync(host.at(SETTINGS), { recursive: true });
    t.same(snapshot(host), before);
    damage(host, SETTINGS);
    await t.rejects(called(host, 'confirm'), { kind: 'usage', message: /settings\.json/ });
  });
}

t.test('brought back because somebody asked: nothing has failed', async (t) => {
  const { host, before } = await onTrial(t, ['first']);
  const reason = { code: 'way-back-requested', kind: 'usage', what: 'somebody asked' } as const;
  await recordReverting(host.paths, reason);
  const { code, text } = await called(host, 'run');
  t.equal(code, 0);
  t.match(text, 'the change was taken back, as somebody has asked');
  t.same(snapshot(host), before);
  t.match(JSON.parse(host.read(STATUS)), { state: 'done' });
  t.match(await readLast(host.paths), { outcome: 'reverted', reason });
});

t.test(
  'its deadline on a running host: it restarts, and the next boot takes it back',
  async (t) => {
    const now = await bootMoment();
    const boots = [{ boot: now.boot, up: now.up - OPTIONS.deadlineMs / 1000 - 1 }];
    const { host, before, reboots } = await onTrial(t, undefined, { boots });
    t.equal((await called(host, 'run')).code, 0);
    t.equal(reboots(), 1);
    t.notSame(snapshot(host), before, 'nothing is put back under running programs');
    t.match(await readTrial(host.paths), { reverting: { code: 'trial-not-confirmed' } });
    t.match(
      host.read('/run/sno-agents/console.issue'),
      /restarts automatically: taking a change back/,
    );

    const trial = await readTrial(host.paths);
    if (trial === undefined) throw new Error('the trial is gone');
    await writeTrial(host.paths, { ...trial, boots: [{ boot: 'the one before', up: 10 }] });
    t.equal((await called(host, 'run')).code, 4);
    t.same(snapshot(host), before);
    t.equal(reboots(), 1);
  },
);

t.test(
  'killed on the way back and started again in the same boot, it takes another boot',
  async (t) => {
    const { host, before, reboots } = await onTrial(t);
    await recordReverting(host.paths, { code: 'deadline', kind: 'deadline', what: 'not settled' });
    t.equal((await called(host, 'run')).code, 0);
    t.equal(reboots(), 1);
    t.notSame(snapshot(host), before);
  },
);

t.test('what cannot be put back is reported and does not keep the rest', async (t) => {
  const settings = { finishMs: 1500, trialRevertMs: 1500, retryMs: 10 };
  const { host, reboots } = await onTrial(t, ['first', 'second']);
  host.write('/etc/sno-agents/settings.json', JSON.stringify(settings));
  const trial = await readTrial(host.paths);
  const copy = trial?.points.network.files.find(({ path }) => path.endsWith('eth0.nmconnection'));
  writeFileSync(host.at(`/var/lib/sno-agents/sno-trial/copies/${copy?.was?.copy}`), 'torn');
  t.equal((await called(host, 'run')).code, 4);
  t.equal(host.read(EXECUTABLE), 'the old executable');
  t.equal(host.read('/etc/kubernetes/secret'), 'old key');
  t.match(await readLast(host.paths), {
    outcome: 'incomplete',
    problems: [{ part: 'network', failure: { what: /eth0.nmconnection is damaged/ } }],
  });
  t.ok(host.has('/var/lib/sno-agents/sno-trial/copies'), 'a person finds the copies');
  t.match(JSON.parse(host.read(STATUS)), { failure: { code: 'trial-incomplete' } });
  t.equal(reboots(), 0);
  t.equal((await called(host, 'run')).code, 0, 'it is not tried twice');
  t.match((await called(host, 'status')).text, /not put back: network: .*damaged/);
});

t.test(
  'a database to go back to is restored by the agent for that, which is asked once',
  async (t) => {
    const host = unchangedHost(t);
    const database = '20300102T030405Z';
    await arm(host, { ...OPTIONS, points: { ...OPTIONS.points, database } });
    const trial = await readTrial(host.paths);
    if (trial === undefined) throw new Error('the trial is gone');
    await writeTrial(host.paths, {
      ...trial,
      boots: ['a', 'b', 'c'].map((boot) => ({ boot, up: 1 })),
    });
    const run = await called(host, 'run');
    t.equal(run.code, 4);
    t.match(run.text, `put back: the backup ${database}`);
    t.match(JSON.parse(host.read(REQUEST)), { schemaVersion: 1, backup: database });
    rmSync(host.at(REQUEST));
    t.equal((await called(host, 'run')).code, 0);
    t.notOk(host.has(REQUEST));
  },
);

t.test('confirm keeps the change', async (t) => {
  const { host, before } = await onTrial(t);
  t.match(
    (await called(host, 'status')).text,
    /the change is on trial since .*30 min, or after 2 more restarts/,
  );
  t.match(await called(host, 'confirm'), { code: 0, text: 'the change is confirmed.\n' });
  t.notOk(host.has(KEPT_EXECUTABLE));
  t.notSame(snapshot(host), before);
  t.match(
    (await called(host, 'status')).text,
    /nothing is on trial\nlast: the change was confirmed/,
  );
  t.equal((await called(host, 'confirm')).code, 2, 'there is none');
});

t.test('revert restarts the host for it', async (t) => {
  const { host } = await onTrial(t);
  t.match(await called(host, 'revert'), { code: 0, text: /restarts and takes the change back/ });
  t.same(host.programs.calls('systemctl start --no-block sno-trial.service').length, 1);
  t.match((await called(host, 'status')).text, /is being taken back: .*"sno-trial revert"/);
  t.equal((await called(host, 'confirm')).code, 2, 'too late');
  const { trial } = JSON.parse((await called(host, 'status', '--json')).text);
  t.match(trial, { what: 'the change', reverting: { kind: 'usage' } });
  t.ok(host.has(`${PROFILES}/bond0.nmconnection`));
});

t.test('revert without a trial is a mistake', async (t) => {
  t.equal((await called(unchangedHost(t), 'revert')).code, 2);
});
