/** The end of a restore, and of one that was undone. */
import { readdirSync } from 'node:fs';
import t from 'tap';
import { concludeRestore } from '../../../../agents/upkeep/backup/restore/conclude.ts';
import { stopForRestore } from '../../../../agents/upkeep/backup/restore/stop.ts';
import { undo } from '../../../../agents/upkeep/backup/restore/undo.ts';
import { Failure } from '../../../../lib/base/errors/failure.ts';
import { failureData } from '../../../../lib/base/errors/failure-data.ts';
import { recordFailure } from '../../../../lib/change/change.ts';
import { restoreChange } from '../../../../lib/change/restore/request.ts';
import { thrownBy } from '../../base/errors/thrown-by.ts';
import { fakeApi, refuse } from '../host/api.ts';
import { NAME, restoringHost } from './backup-host.ts';
import { MOVED, movedFile, SAVED, STATE } from './interrupted-host.ts';

const BROKEN = new Failure('fatal', 'broken by the test');

t.test('it keeps as many databases from before as it is told, the newest ones', async (t) => {
  for (const [restoreKeepCount, days] of [
    [0, []],
    [2, [2, 3]],
    [3, [1, 2, 3]],
    [4, [1, 2, 3]],
  ] as const) {
    const { host, context, run, holds } = await restoringHost(t, {
      settings: { restoreKeepCount },
    });
    for (const day of [1, 2, 3]) host.write(`/var/lib/etcd.replaced-2030010${day}T000000Z/x`, 'x');
    host.write('/var/lib/etcd.replaced-by-me/x', 'x');
    for (const path of [movedFile('etcd'), SAVED, `${STATE}/restarts.json`]) host.write(path);
    t.equal(await holds(concludeRestore), false);
    await run(concludeRestore);
    t.equal(await holds(concludeRestore), true);
    t.strictSame(
      readdirSync(host.at('/var/lib')).filter((name) => name.includes('replaced')),
      [...days.map((day) => `etcd.replaced-2030010${day}T000000Z`), 'etcd.replaced-by-me'],
    );
    t.equal(await restoreChange.read(context.paths), undefined);
    t.equal((await restoreChange.last(context.paths))?.failure, undefined);
    for (const path of [MOVED, SAVED, `${STATE}/restarts.json`]) t.notOk(host.has(path), path);
  }
});

t.test('the end of a restore that was undone fails with its reason', async (t) => {
  const { context, run } = await restoringHost(t);
  await recordFailure(restoreChange, context.paths, failureData(BROKEN));
  await recordFailure(
    restoreChange,
    context.paths,
    failureData(new Failure('fatal', 'a later one')),
  );
  t.match(await thrownBy(run(concludeRestore)), {
    kind: 'fatal',
    code: 'restore-undone',
    message: /found broken by the test\. The database is as before\./,
    details: { subject: NAME, parts: [{ what: 'broken by the test' }] },
  });
  t.equal(await restoreChange.read(context.paths), undefined);
  t.match(await restoreChange.last(context.paths), { failure: { what: 'broken by the test' } });
});

t.test('an undo that is told to stop does not count as done', async (t) => {
  const { host, context, run } = await restoringHost(t, { settings: { restoreStartMs: 60_000 } });
  await run(stopForRestore);
  await recordFailure(restoreChange, context.paths, failureData(BROKEN));
  const stop = new AbortController();
  await fakeApi(t, host, {
    'GET /readyz': () => {
      stop.abort(new Error('told to stop'));
      return refuse(500);
    },
  });
  await t.rejects(undo.run(context, host.progress(stop.signal)), { message: 'told to stop' });
});
