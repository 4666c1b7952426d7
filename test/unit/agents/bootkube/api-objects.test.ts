import t, { type Test } from 'tap';
import { apiObjects } from '../../../../agents/bootkube/handover/api-objects.ts';
import { testHost } from '../host/host.ts';
import { endPauses } from '../host/timers.ts';

const FOLDER = '/opt/openshift/gather';

/** A live host whose executable is this script. */
function host(t: Test, script: string) {
  const it = testHost(t);
  it.write(it.paths.executable, `#!/bin/sh\nROOT='${it.root}'\n${script}\n`, 0o755);
  return it;
}

t.test('api-objects', async (t) => {
  t.test('gather saves the objects of the API where the bundle looks for them', async (t) => {
    const it = host(t, 'echo "$*" > "$ROOT/arguments"');
    it.write(`${FOLDER}/left-by-a-killed-attempt/pods.json`);
    t.same(await it.run(apiObjects), { kind: 'done', note: it.at(FOLDER) });
    t.notOk(it.has(FOLDER), 'gather finds an empty place');
    t.equal(
      it.read('/arguments').trim(),
      `gather --id bootstrap --only resources --to ${it.at(FOLDER)}/`,
    );
  });

  t.test('a failure to save the objects is not an error', async (t) => {
    const it = host(t, 'echo "The API is gone" >&2; exit 1');
    t.match(await it.run(apiObjects), { kind: 'done', note: /^none: .*API is gone/ });
    t.ok(await it.holds(apiObjects), 'the step is done without them');
    t.match(it.lines.join(''), /The API objects could not be saved: .*The API is gone/);
  });

  t.test('a gather that hangs is ended before the deadline of the step', async (t) => {
    const it = host(t, 'exec sleep 300');
    const pauses = endPauses(t);
    const outcome = await apiObjects.run(it.context, it.progress(undefined, 100_000));
    t.match(outcome, { kind: 'done', note: /^none: .*deadline/ });
    const [given = 0] = pauses;
    t.ok(given > 50_000 && given < 90_000, `it had ${given} of 100000 ms`);
  });

  t.test('an agent that is told to stop does not report the step as done', async (t) => {
    const it = host(t, 'touch "$ROOT/begun"; exec sleep 300');
    t.match(await it.stoppedAt('/begun', apiObjects), { message: 'told to stop' });
  });
});
