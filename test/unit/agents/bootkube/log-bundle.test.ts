import t from 'tap';
import { logBundle } from '../../../../agents/bootkube/handover/log-bundle.ts';
import { type TestHost, testHost } from '../host/host.ts';
import { endPauses } from '../host/timers.ts';

const BUNDLE = '/var/log/log-bundle-bootstrap.tar.gz';

const hasOld = (it: TestHost) => it.write(BUNDLE, 'of an earlier failure of bootkube');

t.test('log-bundle', async (t) => {
  t.test('the unit is started, and its bundle is the result', async (t) => {
    const it = testHost(t);
    it.write('/var/log/messages');
    it.programs.give('systemctl', `head -c 3000 /dev/zero > "$ROOT${BUNDLE}"`);
    t.same(await it.run(logBundle), { kind: 'done', note: '3 KiB' });
    t.match(it.lines.join(''), /Waiting for sno-gather.service to create the log bundle/);
    t.equal(await it.holds(logBundle), true);
    t.same(it.programs.calls(), ['systemctl start sno-gather.service']);
  });

  const failures = {
    'the unit fails': 'echo "Job for sno-gather.service failed" >&2; exit 1',
    'the unit leaves nothing': 'exit 0',
  };
  for (const [what, script] of Object.entries(failures)) {
    t.test(`${what}: no bundle, and no error`, async (t) => {
      const it = testHost(t);
      hasOld(it);
      it.programs.give('systemctl', script);
      t.match(await it.run(logBundle), { kind: 'done', note: /^not made: / });
      t.notOk(it.has(BUNDLE), 'the old one tells nothing of this run');
      t.ok(await it.holds(logBundle), 'the step is done without a bundle');
      t.match(it.lines.join(''), /There will be no log bundle: /);
    });
  }

  t.test('a gather that hangs is ended before the deadline of the step', async (t) => {
    const it = testHost(t);
    it.programs.give('systemctl', 'exec sleep 300');
    const pauses = endPauses(t);
    const outcome = await logBundle.run(it.context, it.progress(undefined, 100_000));
    t.match(outcome, { kind: 'done', note: /^not made: .*deadline/ });
    const [given = 0] = pauses;
    t.ok(given > 50_000 && given < 90_000, `it had ${given} of 100000 ms`);
  });

  t.test('an agent that is told to stop does not report the step as done', async (t) => {
    const it = testHost(t);
    it.programs.give('systemctl', 'touch "$ROOT/begun"; exec sleep 300');
    t.match(await it.stoppedAt('/begun', logBundle), { message: 'told to stop' });
  });
});
