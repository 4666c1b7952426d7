import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import t, { type Test } from 'tap';
import { reportedChanges } from '../../../../agents/upkeep/report/changes.ts';
import { heed } from '../../../../agents/upkeep/report/heed.ts';
import { takeUp } from '../../../../agents/upkeep/update/take-up.ts';
import { Failure } from '../../../../lib/base/errors/failure.ts';
import { requestRotation, rotationChange } from '../../../../lib/change/rotation/request.ts';
import { type UpdateRequest, updateChange } from '../../../../lib/change/update/request.ts';
import { readAsked, readWanted, writeAsked } from '../../../../lib/change/update/wanted.ts';
import { recordPath } from '../../../../lib/engine/agents/records.ts';
import { killedAtAnyMoment } from '../../engine/steps/killed-at-any-moment.ts';
import { testHost } from '../host/host.ts';

const { signal } = new AbortController();
const URL = 'https://updates.example.com/1.2.3';
const HUB = {
  ...{ server: 'https://hub.example.com', certificateAuthority: '', certificate: '', key: '' },
  ...{ namespace: 'shops', name: 'berlin', uid: 'uid-of-berlin' },
};
const wanted = (serial: number, update = 170) => ({
  action: 'update',
  serial,
  update: { url: URL, serial: update },
});
const request: UpdateRequest = {
  schemaVersion: 1,
  id: randomUUID(),
  at: '2030-01-01T12:00:00.000Z',
  from: URL,
  manifest: {
    ...{ apiVersion: 'sno-agents/v1', kind: 'Update', serial: 170, architecture: 'amd64' },
    executable: { version: '1.2.3', size: 1, sha256: 'a'.repeat(64) },
    payload: {
      versions: { kubernetes: 'v1.37.2', etcd: 'v3.6.8' },
      size: 1,
      sha256: 'b'.repeat(64),
    },
  },
  signedBy: 'SHA256:x',
};

function updatedHost(t: Test) {
  const host = testHost(t);
  const { paths } = host;
  const asked: object[] = [];
  return {
    paths,
    /** What was to be accepted. */
    asked,
    heed: (...args: Parameters<typeof wanted>) => heed(paths, HUB, wanted(...args)),
    takeUp: (answer: UpdateRequest | undefined | Error) =>
      takeUp(paths, signal, async (_, order) => {
        asked.push(order);
        if (answer instanceof Error) throw answer;
        return answer;
      }),
    told: async () =>
      (await reportedChanges(paths, new Map())).find(({ change }) => change === 'update'),
  };
}

t.test('what a hub names is judged like what a person names, and carried out once', async (t) => {
  const it = updatedHost(t);
  t.same(await it.takeUp(request), { isRequested: false }, 'nothing is wanted');
  await it.heed(4);
  t.match(await it.takeUp(request), { isRequested: true, said: /the update 170 from .* accepted/ });
  t.same(it.asked, [{ from: URL, serial: 170, accepted: { removedApis: false } }]);
  t.match(await updateChange.read(it.paths), { asked: 4, from: URL });
  t.match(await it.told(), { state: 'running', serial: 170, asked: 4 });
  t.same(await it.takeUp(request), { isRequested: true }, 'at the next boot');
  t.equal(it.asked.length, 1);

  const endedAt = new Date(Date.now() + 1000).toISOString();
  await updateChange.end(it.paths, (ended) => ({ ...ended, endedAt, outcome: 'reverted' }));
  t.match(await it.told(), { state: 'takenBack', serial: 170, asked: 4 });
  await it.heed(4);
  t.notOk(await readWanted(it.paths), 'it is not tried again by itself');
  await it.heed(5);
  t.match(await it.takeUp(request), { isRequested: true });
  t.match(await updateChange.read(it.paths), { asked: 5 });
});

t.test('why it is refused is told, and not asked again', async (t) => {
  const it = updatedHost(t);
  const fault = new Failure('usage', 'the signature is by a stranger', {
    code: 'update-refused',
    fix: 'Sign it.',
  });
  await it.heed(4);
  const path = recordPath(it.paths, 'update-wanted');
  const asked = readFileSync(path);
  t.match(await it.takeUp(fault), { isRequested: false, said: /refused: the signature/ });
  t.match(await it.told(), {
    ...{ state: 'refused', asked: 4, code: 'update-refused', fix: 'Sign it.' },
    what: 'the signature is by a stranger',
  });
  t.notOk(existsSync(path));
  await it.heed(4);
  await it.heed(3);
  t.same(await it.takeUp(request), { isRequested: false });
  // Of an agent that was killed when it had told.
  writeFileSync(path, asked);
  t.same(await it.takeUp(request), { isRequested: false });
  t.notOk(existsSync(path));
  t.equal(it.asked.length, 1);
  await heed(it.paths, { ...HUB, uid: 'another' }, wanted(1));
  t.match(await it.takeUp(request), { isRequested: true }, 'what another Site asks for');
});

t.test('a change that began while the manifest was fetched comes first', async (t) => {
  const it = updatedHost(t);
  await it.heed(4);
  const taken = await takeUp(it.paths, signal, async () => {
    await requestRotation(it.paths, { what: { kind: 'encryption' }, restartWorkloads: false });
    return request;
  });
  t.match(taken, { isRequested: false, said: /not taken yet: a rotation of/ });
  t.equal(await updateChange.read(it.paths), undefined, 'not both at once');
  t.match(await readAsked(it.paths), { outcome: 'waiting' });
  t.match(await readWanted(it.paths), { url: URL }, 'it is taken up again');
});

t.test('what may pass is tried again, after a while', async (t) => {
  const it = updatedHost(t);
  await it.heed(4);
  await requestRotation(it.paths, { what: { kind: 'encryption' }, restartWorkloads: false });
  t.match(await it.takeUp(request), { isRequested: false, said: /not taken yet: a rotation of/ });
  t.same(it.asked, [], 'not while something else is under way');
  t.match(await it.told(), { state: 'running', asked: 4, what: /a rotation/ });
  await rotationChange.remove(it.paths);
  t.match(await it.takeUp(new Failure('retry', 'no answer')), { said: /not taken yet: no answer/ });

  // The answer to a report of that would otherwise have it tried at once, again and again.
  const path = recordPath(it.paths, 'update-wanted');
  rmSync(path);
  await it.heed(4);
  t.notOk(existsSync(path));
  const asked = await readAsked(it.paths);
  if (asked === undefined) throw new Error('nothing is kept');
  await writeAsked(it.paths, { ...asked, at: '2020-01-01T00:00:00.000Z' });
  await it.heed(4);
  t.match(await it.takeUp(request), { isRequested: true });
});

t.test('only what a person has to correct is refused for good', async (t) => {
  for (const [kind, outcome] of [
    ...[['usage', 'refused'] as const, ['fatal', 'refused'] as const],
    ...[['retry', 'waiting'] as const, ['deadline', 'waiting'] as const],
  ]) {
    const it = updatedHost(t);
    await it.heed(4);
    await it.takeUp(new Failure(kind, 'a fault'));
    t.match(await readAsked(it.paths), { outcome }, kind);
    t.equal((await readWanted(it.paths)) !== undefined, outcome === 'waiting', kind);
  }
  const it = updatedHost(t);
  await it.heed(4);
  t.equal(statSync(dirname(recordPath(it.paths, 'update-wanted'))).mode & 0o777, 0o700);
  const stop = new AbortController();
  const stopped = takeUp(it.paths, stop.signal, async () => {
    stop.abort(new Error('stopped by the test'));
    throw new Failure('fatal', 'no answer');
  });
  await t.rejects(stopped, { message: 'stopped by the test' });
  t.equal(await readAsked(it.paths), undefined, 'nothing is decided');
});

t.test('interrupted at any moment, it is decided once', async (t) => {
  for (const answer of [request, undefined, new Failure('usage', 'by a stranger')]) {
    await killedAtAnyMoment(t, {
      async prepare() {
        const it = updatedHost(t);
        await it.heed(4);
        return it;
      },
      run: (it) => it.takeUp(answer),
      async allowed({ paths }, when) {
        const isWanted = (await readWanted(paths)) !== undefined;
        t.ok(isWanted || (await readAsked(paths)) !== undefined, `${when}: nothing is forgotten`);
      },
      result: async ({ paths }) => [
        (await updateChange.read(paths))?.asked,
        (await readWanted(paths)) === undefined || (await updateChange.read(paths)) !== undefined,
      ],
      least: 6,
      isDurable: true,
    });
  }
});

t.test('a host that runs it already says so', async (t) => {
  const it = updatedHost(t);
  await it.heed(4);
  t.match(await it.takeUp(undefined), { isRequested: false });
  t.match(await it.told(), { state: 'done', asked: 4 });
});
