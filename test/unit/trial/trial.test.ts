/** Points of return: what is kept, what is put back, and every moment at which the process may be killed. */
import { lstatSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { Failure } from '../../../lib/errors/failure.ts';
import { failureData } from '../../../lib/errors/failure-data.ts';
import { confirmTrial, dropTrial, endReverted, revertTrial } from '../../../lib/trial/arm.ts';
import {
  isNetworkBack,
  isRestBack,
  putBackNetwork,
  putBackRest,
} from '../../../lib/trial/points.ts';
import { readLast, readTrial, recordReverting } from '../../../lib/trial/store.ts';
import type { TestHost } from '../agents/host/host.ts';
import {
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
import { killedAt } from './dying.ts';

const signal = AbortSignal.timeout(300_000);
const reason = failureData(new Failure('deadline', 'it did not settle'));

/** Everything that sno-trial does on the way back, in its order. */
async function takeBack({ paths }: TestHost): Promise<void> {
  await recordReverting(paths, reason);
  const trial = await readTrial(paths);
  if (trial === undefined) return;
  if ((await readLast(paths))?.id !== trial.id) {
    await putBackNetwork(paths, trial.points);
    await putBackRest(paths, trial.points);
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
  t.match(host.read(DROPIN), /^OnActiveSec=1920$/m);
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

/** Kills `body` at its first call, its second ... until it ends; `after` is told the call. */
async function atEveryCall(
  prepare: () => Promise<TestHost>,
  body: (host: TestHost) => Promise<unknown>,
  after: (host: TestHost, call: number) => Promise<void>,
): Promise<number> {
  for (let call = 1; ; call++) {
    const host = await prepare();
    const wasKilled = await killedAt(call, () => body(host));
    await after(host, call);
    if (!wasKilled) return call - 1;
  }
}

t.test('killed at any moment of arming, nothing has changed, and it is armed again', async (t) => {
  const calls = await atEveryCall(
    async () => unchangedHost(t),
    arm,
    async (host, call) => {
      const fresh = snapshot(unchangedHost(t));
      t.same(snapshot(host), fresh, `call ${call}`);
      await arm(host);
      await change(host);
      await takeBack(host);
      t.same(snapshot(host), fresh, `call ${call}: the way back is complete`);
    },
  );
  t.ok(calls > 20, `${calls} calls`);
});

t.test('killed at any moment of the way back, it is continued to the same end', async (t) => {
  const expected = snapshot(unchangedHost(t));
  const calls = await atEveryCall(
    async () => {
      const host = unchangedHost(t);
      await arm(host);
      await change(host);
      return host;
    },
    takeBack,
    async (host, call) => {
      const isUnderWay = host.has(RECORD);
      t.ok(!isUnderWay || host.has(KEPT_EXECUTABLE), `call ${call}: its executable is there`);
      await takeBack(host);
      t.same(snapshot(host), expected, `call ${call}`);
      t.match(host.read(LAST), '"outcome":"reverted"', `call ${call}`);
    },
  );
  t.ok(calls > 20, `${calls} calls`);
});

t.test(
  'killed at any moment of the confirmation, it is either on trial or confirmed',
  async (t) => {
    const calls = await atEveryCall(
      async () => {
        const host = unchangedHost(t);
        await arm(host);
        await change(host);
        return host;
      },
      (host) => confirmTrial(host.paths, signal),
      async (host, call) => {
        const confirmed = host.has(LAST);
        await takeBack(host);
        const isOld = host.read(EXECUTABLE) === 'the old executable';
        t.equal(isOld, !confirmed, `call ${call}`);
        t.notOk(host.has(RECORD), `call ${call}`);
      },
    );
    t.ok(calls > 5, `${calls} calls`);
  },
);
