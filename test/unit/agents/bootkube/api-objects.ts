import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { apiObjects, objectsFolder } from '../../../../agents/bootkube/handover/api-objects.ts';
import { liveHost } from '../live-host.ts';

/** A live host whose executable is this script. */
function host(root: string, script: string) {
  const live = liveHost(root);
  live.write(live.paths.executable, `#!/bin/sh\n${script}\n`, 0o755);
  return live;
}

t.test('gather saves the objects of the API where the bundle will look for them', async (t) => {
  const root = t.testdir();
  const { context, progress } = host(root, `echo "$*" > ${join(root, 'arguments')}`);
  const folder = objectsFolder(context);
  mkdirSync(join(folder, 'left-by-a-killed-attempt'), { recursive: true });
  t.same(await apiObjects.run(context, progress()), { kind: 'done', note: folder });
  t.notOk(existsSync(folder), 'gather finds an empty place');
  t.equal(
    readFileSync(join(root, 'arguments'), 'utf8').trim(),
    `gather --id bootstrap --only resources --to ${folder}/`,
  );
});

t.test('objects that cannot be saved fail nothing', async (t) => {
  const { context, lines, progress } = host(t.testdir(), 'echo "The API is gone" >&2; exit 1');
  t.match(await apiObjects.run(context, progress()), {
    kind: 'done',
    note: /^none: .*API is gone/,
  });
  t.ok(await apiObjects.holds(context, progress()), 'the step is done without them');
  t.match(lines.join(''), /The objects of the API are not saved: .*The API is gone/);
});

t.test('a gather that hangs ends before the deadline of the step does', async (t) => {
  const { context, progress } = host(t.testdir(), 'exec sleep 30');
  const outcome = await apiObjects.run(context, progress(AbortSignal.timeout(20_000), 1_000));
  t.match(outcome, { kind: 'done', note: /^none: .*deadline/ });
});

t.test('an agent that is told to stop does not call the step done', async (t) => {
  const { context, progress } = host(t.testdir(), 'exec sleep 30');
  const reason = new Error('told to stop');
  const stop = new AbortController();
  setTimeout(() => stop.abort(reason), 100);
  await t.rejects(apiObjects.run(context, progress(stop.signal)), reason);
});
