/** What is the same of every change on request. */
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import t from 'tap';
import { recordFailure } from '../../../lib/change/change.ts';
import { endedAs, endingOf } from '../../../lib/change/ending.ts';
import { CHANGES, requireIdle } from '../../../lib/change/exclusion.ts';
import { type RestoreRequest, restoreChange } from '../../../lib/change/restore/request.ts';
import { recordPath } from '../../../lib/engine/agents/records.ts';
import { hostPaths } from '../../../lib/host/paths.ts';
import { freshFolder } from '../engine/steps/fresh-folder.ts';
import { killedAtAnyMoment } from '../engine/steps/killed-at-any-moment.ts';

const request: RestoreRequest = {
  schemaVersion: 1,
  backup: 'b',
  requestedAt: '2030-01-01T00:00:00Z',
};
const ID = randomUUID();
const failure = (what: string) => ({ kind: 'fatal', code: 'refused', what }) as const;

const isChange = (name: string): name is keyof typeof CHANGES => name in CHANGES;

t.test('a request is read as it was written, by root alone', async (t) => {
  const paths = hostPaths(freshFolder(t));
  t.equal(await restoreChange.read(paths), undefined);
  await restoreChange.write(paths, request);
  t.same(await restoreChange.read(paths), request);
  const path = restoreChange.requestPath(paths);
  t.equal(statSync(path).mode & 0o777, 0o600);
  t.equal(statSync(dirname(path)).mode & 0o777, 0o700);
});

t.test('a damaged request is not taken for none, and names who writes it', async (t) => {
  for (const { requestPath, read } of Object.values(CHANGES)) {
    const paths = hostPaths(freshFolder(t));
    mkdirSync(dirname(requestPath(paths)), { recursive: true });
    for (const text of ['', '{', 'null', '{"schemaVersion":2}']) {
      writeFileSync(requestPath(paths), text);
      await t.rejects(
        async () => void (await read(paths)),
        { kind: 'fatal', message: /cannot be used.* writes it/ },
        text,
      );
    }
  }
});

t.test('each request excludes every other change, and not its own', async (t) => {
  for (const own of Object.keys(CHANGES).filter(isChange)) {
    const paths = hostPaths(freshFolder(t));
    const { requestPath, underWay, status } = CHANGES[own];
    mkdirSync(dirname(requestPath(paths)), { recursive: true });
    writeFileSync(requestPath(paths), '');
    await requireIdle(paths, own);
    for (const other of [undefined, ...Object.keys(CHANGES).filter(isChange)]) {
      if (other === own) continue;
      await t.rejects(
        requireIdle(paths, other),
        {
          kind: 'usage',
          code: 'change-under-way',
          what: underWay,
          details: { fix: `Wait for its end: see "${status}".` },
        },
        `${own} and ${other}`,
      );
    }
  }
});

t.test('nothing depends on how the last one ended: a damaged result is none', async (t) => {
  const paths = hostPaths(freshFolder(t));
  await restoreChange.write(paths, request);
  await restoreChange.end(paths, (it) => it);
  t.match(await restoreChange.last(paths), request);
  writeFileSync(recordPath(paths, 'restore'), '{');
  t.equal(await restoreChange.last(paths), undefined);
});

t.test('the first reason of a failure is kept', async (t) => {
  const paths = hostPaths(freshFolder(t));
  await recordFailure(restoreChange, paths, failure('nothing is asked for'));
  t.equal(await restoreChange.read(paths), undefined);
  await restoreChange.write(paths, request);
  await recordFailure(restoreChange, paths, failure('first'));
  await recordFailure(restoreChange, paths, failure('later'));
  t.match(await restoreChange.read(paths), { ...request, failure: failure('first') });
});

t.test('interrupted at any moment, an end that was seen has its result', async (t) => {
  await killedAtAnyMoment(t, {
    least: 4,
    isDurable: true,
    async prepare() {
      const paths = hostPaths(freshFolder(t));
      await restoreChange.write(paths, request);
      return paths;
    },
    async run(paths) {
      await restoreChange.end(paths, (it) => it);
      t.equal(await restoreChange.read(paths), undefined, 'nothing is asked for any more');
    },
    async allowed(paths, when) {
      if (!existsSync(restoreChange.requestPath(paths)))
        t.match(await restoreChange.last(paths), request, when);
    },
    result: (paths) => ({
      isOver: !existsSync(restoreChange.requestPath(paths)),
      text: readFileSync(recordPath(paths, 'restore'), 'utf8'),
    }),
  });
});

t.test('a change on trial ends by the record of its trial', async (t) => {
  const paths = hostPaths(freshFolder(t));
  const ending = () => endingOf(restoreChange, paths, { id: ID, kept: 'updated' });
  const last = (fields: object) => {
    const path = recordPath(paths, 'trial');
    mkdirSync(dirname(path), { recursive: true });
    const ended = { schemaVersion: 1, what: 'x', endedAt: '2030-01-01T00:00:00Z', problems: [] };
    writeFileSync(path, JSON.stringify({ ...ended, ...fields }));
  };
  await restoreChange.write(paths, { ...request, failure: failure('too early') });
  t.match(await ending(), { outcome: 'refused', failure: failure('too early') });
  last({ id: randomUUID(), outcome: 'confirmed' });
  t.match(await ending(), { outcome: 'refused' }, 'of another change');
  last({ id: ID, outcome: 'confirmed' });
  t.same(await ending(), { outcome: 'updated', failure: undefined });
  for (const outcome of ['reverted', 'incomplete']) {
    last({ id: ID, outcome, reason: failure('it did not settle') });
    t.match(await ending(), { outcome: 'reverted', failure: failure('it did not settle') });
  }
  const { endedAt, ...ended } = endedAs({ outcome: 'updated', failure: undefined })(request);
  t.same(ended, { ...request, outcome: 'updated' });
  t.ok(Date.parse(endedAt) > 0);
  const why = failure('it did not settle');
  t.match(endedAs({ outcome: 'reverted', failure: why })(request), { ...request, failure: why });
});
