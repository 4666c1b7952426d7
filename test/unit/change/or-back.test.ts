/** Steps of a change that can be taken back: when they are over, and what a permanent failure of one does. */
import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { Failure } from '../../../lib/base/errors/failure.ts';
import { endingOf } from '../../../lib/change/ending.ts';
import { orBackBy } from '../../../lib/change/or-back.ts';
import { restoreChange } from '../../../lib/change/restore/request.ts';
import { done } from '../../../lib/engine/steps/step.ts';
import { confirmTrial } from '../../../lib/engine/trial/arm.ts';
import { readTrial, recordReverting, writeLast } from '../../../lib/engine/trial/store.ts';
import { arm, ID, OPTIONS, unchangedHost } from '../engine/trial/changed-host.ts';

const reason = { code: 'deadline', kind: 'deadline', what: 'it did not settle' } as const;
const failure = new Failure('deadline', 'it did not settle');

/** A requested change, one step of it, and how often that has run. */
async function requested(t: Test) {
  const host = unchangedHost(t);
  const { paths } = host;
  await restoreChange.write(paths, {
    schemaVersion: 1,
    backup: 'b',
    requestedAt: '2030-01-01T00:00:00Z',
  });
  let runs = 0;
  const step = orBackBy<{ paths: typeof paths; request: { id: string } }>(restoreChange)({
    name: 'one',
    leaves: 'something',
    touches: ['disk'],
    holds: async () => false,
    run: async () => {
      runs += 1;
      return done('it ran');
    },
  });
  const context = { paths, request: { id: ID } };
  return {
    host,
    paths,
    context,
    step,
    runs: () => runs,
    holds: () => step.holds(context, host.progress()),
    run: () => step.run(context, host.progress()),
  };
}

t.test('its steps run, and are tried again, for this request', async (t) => {
  const it = await requested(t);
  t.notOk(await it.holds(), 'as the step itself says');
  t.same(await it.run(), done('it ran'));
  await arm(it.host);
  t.notOk(await it.holds(), 'on trial');
  t.same(await it.run(), done('it ran'));
  t.equal(it.step.retries, true);
  t.equal(it.step.input(it.context), ID);
});

const OVER: Record<string, (it: Awaited<ReturnType<typeof requested>>) => Promise<unknown>> = {
  'it has failed before the trial': async ({ paths }) => {
    const request = await restoreChange.read(paths);
    if (request !== undefined) await restoreChange.write(paths, { ...request, failure: reason });
  },
  'it is being taken back': async ({ host, paths }) => {
    await arm(host);
    await recordReverting(paths, reason);
  },
  'its trial has ended': async ({ host, paths }) => {
    await arm(host);
    await confirmTrial(paths, AbortSignal.timeout(60_000));
  },
};

for (const [when, make] of Object.entries(OVER)) {
  t.test(`nothing more is done once ${when}`, async (t) => {
    const it = await requested(t);
    await make(it);
    t.ok(await it.holds());
    t.match(await it.run(), { kind: 'done', note: /skipped/ });
    t.equal(it.runs(), 0);
  });
}

t.test('the end of an earlier change is not its own', async (t) => {
  const it = await requested(t);
  await writeLast(it.paths, {
    schemaVersion: 1,
    id: randomUUID(),
    what: 'another',
    endedAt: '2030-01-01T00:00:00Z',
    outcome: 'reverted',
    problems: [],
  });
  t.notOk(await it.holds());
  t.same(await it.run(), done('it ran'));
});

t.test('a permanent failure before the trial is recorded, and nothing restarts', async (t) => {
  const it = await requested(t);
  const note = await it.step.instead?.(it.context, failure);
  t.match(note, /nothing was changed: it did not settle/);
  t.match((await restoreChange.read(it.paths))?.failure, reason);
  t.same(it.host.programs.calls(), []);
});

t.test('a permanent failure on trial takes the host back, and the request stays', async (t) => {
  const it = await requested(t);
  await arm(it.host, { ...OPTIONS, id: ID });
  it.host.programs.forgetCalls();
  const note = await it.step.instead?.(it.context, failure);
  t.match(note, /the host goes back: it did not settle/);
  t.match((await readTrial(it.paths))?.reverting, reason);
  t.same(it.host.programs.calls(), ['systemctl start --no-block sno-trial.service']);
  t.equal((await restoreChange.read(it.paths))?.failure, undefined);
});

t.test('while the host restarts to go back, the change has not ended', async (t) => {
  const { host, paths } = await requested(t);
  await arm(host);
  const ending = () => endingOf(restoreChange, paths, { id: ID, kept: 'updated' });
  t.match(await ending(), { outcome: 'refused' });
  await recordReverting(paths, reason);
  t.equal(await ending(), undefined);
});
