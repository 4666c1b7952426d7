import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { bundlePath, logBundle } from '../../../../agents/bootkube/handover/log-bundle.ts';
import { liveHost } from '../live-host.ts';

/** Stands in for systemd: a real program, found first in PATH. */
function systemctl(t: Test, script: string): void {
  const folder = t.testdir({ systemctl: `#!/bin/sh\n${script}\n` });
  chmodSync(join(folder, 'systemctl'), 0o755);
  const before = process.env.PATH;
  process.env.PATH = `${folder}:${before}`;
  t.teardown(() => {
    process.env.PATH = before;
  });
}

function host(t: Test) {
  const root = join(t.testdirName, 'host');
  const live = liveHost(root);
  mkdirSync(dirname(bundlePath(live.context)), { recursive: true });
  return live;
}

t.test('the unit is started, and its bundle is the result', async (t) => {
  const path = join(t.testdirName, 'host/var/log/log-bundle-bootstrap.tar.gz');
  const arguments_ = join(t.testdirName, 'arguments');
  systemctl(t, `echo "$*" > ${arguments_}; head -c 3000 /dev/zero > ${path}`);
  const { context, lines, progress } = host(t);
  t.same(await logBundle.run(context, progress()), { kind: 'done', note: '3 KiB' });
  t.equal(bundlePath(context), path);
  t.match(lines.join(''), /Waiting for sno-gather.service to make the log bundle/);
  t.matchOnly(await logBundle.holds(context, progress()), true);
  t.equal(readFileSync(arguments_, 'utf8').trim(), 'start sno-gather.service');
});

const failures = {
  'the unit fails': 'echo "Job for sno-gather.service failed" >&2; exit 1',
  'the unit leaves nothing': 'exit 0',
};
for (const [what, script] of Object.entries(failures)) {
  t.test(`${what}: no bundle, and nothing fails`, async (t) => {
    systemctl(t, script);
    const { context, lines, progress } = host(t);
    // Of an earlier failure of bootkube: it tells nothing of this run.
    writeFileSync(bundlePath(context), 'old');
    t.match(await logBundle.run(context, progress()), { kind: 'done', note: /^not made: / });
    t.notOk(existsSync(bundlePath(context)));
    t.ok(await logBundle.holds(context, progress()), 'the step is done without a bundle');
    t.match(lines.join(''), /There will be no log bundle: /);
  });
}

t.test('a gather that hangs ends before the deadline of the step does', async (t) => {
  systemctl(t, 'exec sleep 30');
  const { context, progress } = host(t);
  const began = performance.now();
  const outcome = await logBundle.run(context, progress(AbortSignal.timeout(20_000), 1_000));
  t.match(outcome, { kind: 'done', note: /^not made: / });
  t.ok(performance.now() - began < 20_000);
});

t.test('an agent that is told to stop does not call the step done', async (t) => {
  systemctl(t, 'exec sleep 30');
  const { context, progress } = host(t);
  const reason = new Error('told to stop');
  const stop = new AbortController();
  setTimeout(() => stop.abort(reason), 100);
  await t.rejects(logBundle.run(context, progress(stop.signal)), reason);
});
