/** The API of the tests refuses, prunes and keeps what a real one does. */
import t from 'tap';
import { startFakeApi } from './fake-api.ts';
import { RULED_KINDS, saidOfWrites } from './write-rules.ts';

t.test('writes, as FakeApi carries them out', async (t) => {
  const { api, client } = await startFakeApi(t, RULED_KINDS);
  const limits = { signal: AbortSignal.timeout(60_000), deadlineMs: 10_000 };
  const said = await saidOfWrites(client, limits);
  t.strictSame(
    said.map(({ what, answer, isChanged }) => `${what}: ${answer}${isChanged ? ', changed' : ''}`),
    SAID,
  );
  t.strictSame(
    said.flatMap(({ what, spec, status }) => (/status/.test(what) ? [[spec, status]] : [])),
    [
      [{ size: 's' }, undefined],
      [{ size: 'l' }, undefined],
      [{ size: 'l' }, { seen: 'c' }],
      [{ size: 'xs', color: 'red' }, { seen: 'c' }],
    ],
  );
  const place = '/apis/rules.test/v1/widgets/one';
  t.strictSame(api.pruned, [`${place}: spec.x`, `${place}: spec.y`]);
});

const SAID = [
  'a PUT of what does not exist: 404 NotFound',
  'a DELETE of it: 404 NotFound',
  'a POST with a version: 500 ',
  'a POST, with a status and a field that nobody knows: done, changed',
  'a POST of what exists: 409 AlreadyExists',
  'a PUT without a version: 422 Invalid',
  'a stale PUT: 409 Conflict',
  'a PUT of another uid: 409 Conflict',
  'a PUT under another name: 400 BadRequest',
  'a PUT with a status, and a field that nobody knows: done, changed',
  'a PUT of the status, with another spec: done, changed',
  'a PUT that says nothing of the status: done, changed',
  'a merge patch: done, changed',
  'a stale merge patch: 409 Conflict',
  'a strategic patch of it: 415 UnsupportedMediaType',
  'a patch of no type: 415 UnsupportedMediaType',
  'a DELETE of another uid: 409 Conflict',
  'a DELETE of an earlier version: 409 Conflict',
  'a DELETE of this one: done, changed',
  'a Secret: done, changed',
  'its type: 422 Invalid',
  'an update without a version: done, changed',
  'a strategic patch of what is built in: done, changed',
];
