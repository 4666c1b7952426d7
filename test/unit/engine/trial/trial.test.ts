/** Points of return: what is kept, what is put back, and every moment at which the process may be killed. */
import { lstatSync, readdirSync, writeFileSync } from 'node:fs';
import t, { type Test } from 'tap';
import { Failure } from '../../../../lib/base/errors/failure.ts';
import { failureData } from '../../../../lib/base/errors/failure-data.ts';
import {
  confirmTrial,
  dropTrial,
  endReverted,
  revertTrial,
} from '../../../../lib/engine/trial/arm.ts';
import {
  isNetworkBack,
  isRestBack,
  putBackNetwork,
  putBackRest,
} from '../../../../lib/engine/trial/points.ts';
import { readLast, readTrial, recordReverting } from '../../../../lib/engine/trial/store.ts';
import type { TestHost } from '../../agents/host/host.ts';
import { killedAtAnyMoment } from '../steps/killed-at-any-moment.ts';
import {
  ACTIVE_TIMER,
  arm,
  change,
  DROPIN,
  EXECUTABLE,
  ID,
  KEPT_EXECUTABLE,
  LAST,
  MOVED,
  OPTIONS,
  PROFILES,
  RECORD,
  snapshot,
  unchangedHost,
} from './changed-host.ts';

const COPIES = '/var/lib/sno-agents/sno-trial/copies';
const signal = new AbortController().signal;
const reason = failureData(new Failure('deadline', 'it did not settle'));

/** Everything that sno-trial does on the way back, in its order. */
async function takeBack({ paths }: TestHost): Promise<void> {
  await recordReverting(paths, reason);
  const trial = await readTrial(paths);
  if (trial === undefined) return;
  if ((await readLast(paths))?.id !== trial.id) {
    // As its steps do: what holds is not done again.
    if (!(await isNetworkBack(paths, trial.points))) await putBackNetwork(paths, trial.points);
    if (!(await isRestBack(paths, trial.points))) await putBackRest(paths, trial.points);
    await endReverted(paths, { ...trial, reverting: reason });
  }
  await dropTrial(paths, trial, signal);
}

t.test('a change that is not confirmed leaves no trace', async (t) => {
  const host = unchangedHost(t);
  const before = snapshot(host);
  const trial = await arm(host);
  t.same(snapshot(host), before, 'arming changes nothing');
  t.equal(host.mode(RECORD), 0o600);
  t.equal(lstatSync(host.at(KEPT_EXECUTABLE)).ino, lstatSync(host.at(EXECUTABLE)).ino, 'no copy');
  const alone = '[Timer]\nOnActiveSec=\nOnActiveSec=1920\n';
  t.equal(host.read(ACTIVE_TIMER), alone, 'in place of that of the unit');
  t.same(host.programs.calls(), [
    'systemctl daemon-reload',
    'systemctl start --no-block sno-trial.timer',
  ]);

  await change(host);
  t.notSame(snapshot(host), before);
  t.notOk(await isNetworkBack(host.paths, trial.points));
  t.notOk(await isRestBack(host.paths, trial.points));
  t.same((await putBackNetwork(host.paths, trial.points)).toSorted(), [
    `${PROFILES}/bond0.nmconnection`,
    `${PROFILES}/eth0.nmconnection`,
    '/var/lib/NetworkManager/NetworkManager-intern.conf',
  ]);
  t.ok(await isNetworkBack(host.paths, trial.points));
  await putBackRest(host.paths, trial.points);
  t.ok(await isRestBack(host.paths, trial.points));
  t.same(await putBackRest(host.paths, trial.points), [], 'a second time, nothing is left to do');
  t.same(snapshot(host), before);

  await takeBack(host);
  t.same(snapshot(host), before);
  for (const path of [RECORD, KEPT_EXECUTABLE, DROPIN, MOVED.aside]) t.notOk(host.has(path), path);
  t.match(await readLast(host.paths), { id: ID, outcome: 'reverted', reason });
});

t.test('a confirmed change stays, and nothing is kept of the host before it', async (t) => {
  const host = unchangedHost(t);
  await arm(host);
  await change(host);
  const changed = snapshot(host);
  await confirmTrial(host.paths, signal);
  t.same(snapshot(host), changed);
  for (const path of [RECORD, KEPT_EXECUTABLE, DROPIN, MOVED.aside]) t.notOk(host.has(path), path);
  t.match(host.read(LAST), '"outcome":"confirmed"');
  t.same(
    host.programs.calls().slice(-2),
    ['systemctl daemon-reload', 'systemctl stop sno-trial.timer'],
    'systemd has no deadline of it any more',
  );
  await t.rejects(confirmTrial(host.paths, signal), {
    kind: 'usage',
    message: /nothing is on trial/,
  });
  await t.rejects(arm(host), { kind: 'usage', message: /has ended/ }, 'nor is it armed again');
});

t.test('one change at a time, and no way out of a revert', async (t) => {
  const host = unchangedHost(t);
  const trial = await arm(host);
  const other = { ...OPTIONS, id: '0b6f7d0e-50a8-4d5f-8f43-0c8a35c2a222' };
  await t.rejects(arm(host, other), { kind: 'usage', message: /the change is on trial/ });
  t.same(await arm(host), trial, 'the same change continues');
  await revertTrial(host.paths, reason, signal);
  t.match(host.programs.calls('systemctl start').at(-1), 'sno-trial.service');
  await revertTrial(host.paths, failureData(new Failure('usage', 'another')), signal);
  t.match(await readTrial(host.paths), { reverting: reason }, 'the first reason is kept');
  await t.rejects(confirmTrial(host.paths, signal), { message: /is being taken back/ });
  await t.rejects(arm(host), { message: /is on trial/ });
});

t.test('what cannot be kept is refused before anything changes', async (t) => {
  const host = unchangedHost(t);
  host.write('/etc/folder/file');
  const points = { files: ['/etc/folder'] };
  await t.rejects(arm(host, { ...OPTIONS, points }), { kind: 'fatal', message: /regular file/ });
  t.notOk(host.has(RECORD));
});

t.test('a damaged copy is not put back', async (t) => {
  const host = unchangedHost(t);
  const { points } = await arm(host);
  const copy = points.files.find(({ path }) => path.endsWith('secret'))?.was?.copy;
  writeFileSync(host.at(`/var/lib/sno-agents/sno-trial/copies/${copy}`), 'torn');
  await change(host);
  await t.rejects(putBackRest(host.paths, points), {
    kind: 'fatal',
    message: /kept copy of \/etc\/kubernetes\/secret is damaged/,
  });
});

t.test('a record that cannot be read is not taken for no trial', async (t) => {
  const host = unchangedHost(t);
  host.write(RECORD, '{"torn');
  await t.rejects(readTrial(host.paths), { kind: 'fatal', message: /trial\.json cannot be used/ });
});

t.test(
  'interrupted at any moment of arming, nothing has changed, and it is armed again',
  async (t) => {
    const fresh = snapshot(unchangedHost(t));
    await killedAtAnyMoment(t, {
      prepare: () => unchangedHost(t),
      run: arm,
      allowed(host, when) {
        t.same(snapshot(host), fresh, when);
        t.ok(host.has(RECORD) || !host.has(ACTIVE_TIMER), `${when}: no timer without a record`);
      },
      result: async (host) => ({
        host: snapshot(host),
        trial: { ...(await readTrial(host.paths)), armedAt: 'now', boots: 'this one' },
        executable: lstatSync(host.at(KEPT_EXECUTABLE)).ino === lstatSync(host.at(EXECUTABLE)).ino,
        copies: readdirSync(host.at(COPIES)).map((name) => host.read(`${COPIES}/${name}`)),
        timer: host.has(ACTIVE_TIMER) && host.read(ACTIVE_TIMER),
      }),
      least: 20,
      isDurable: true,
    });
  },
);

async function changedHost(t: Test): Promise<TestHost> {
  const host = unchangedHost(t);
  await arm(host);
  await change(host);
  return host;
}

t.test('interrupted at any moment of the way back, it is continued to the same end', async (t) => {
  await killedAtAnyMoment(t, {
    prepare: () => changedHost(t),
    run: takeBack,
    allowed(host, when) {
      const isUnderWay = host.has(RECORD);
      t.ok(!isUnderWay || host.has(KEPT_EXECUTABLE), `${when}: its executable is there`);
      t.ok(host.has(EXECUTABLE), `${when}: the one or the other executable is in use`);
      t.ok(isUnderWay || !host.has(DROPIN), `${when}: nobody would delete its deadline any more`);
      const isTimed = host.has(ACTIVE_TIMER);
      t.ok(!isTimed || host.has(KEPT_EXECUTABLE), `${when}: the timer starts nothing that is gone`);
    },
    result: async (host) => ({
      host: snapshot(host),
      outcome: (await readLast(host.paths))?.outcome,
      isOver: !host.has(RECORD),
    }),
    least: 20,
    isDurable: true,
  });
});

t.test('interrupted at any moment of the confirmation, it is on trial or confirmed', async (t) => {
  await killedAtAnyMoment(t, {
    prepare: () => changedHost(t),
    run: (host) => confirmTrial(host.paths, signal),
    async again(host) {
      const confirmed = host.has(LAST);
      await takeBack(host);
      t.equal(host.read(EXECUTABLE) === 'the old executable', !confirmed);
    },
    result: (host) => host.has(RECORD),
    least: 5,
    isDurable: true,
  });
});
