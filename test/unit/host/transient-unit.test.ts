import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { runTransientUnit } from '../../../lib/host/transient-unit.ts';

const hasSystemd = existsSync('/run/systemd/system');

/** Programs that do for one unit what systemd's do, with its state in files of $FAKE. */
const PROGRAMS = {
  'systemd-run': `#!/bin/sh
echo "systemd-run $*" >> "$FAKE/calls"
for word; do case "$word" in --property=ExecStopPost=/usr/bin/touch*) mark=\${word##* };; esac; done
while [ "$1" != -- ]; do shift; done; shift
echo activating > "$FAKE/state"
( "$@" > "$FAKE/output" 2>&1; code=$?; echo $code > "$FAKE/code"
  [ $code = 0 ] && echo active > "$FAKE/state" || echo failed > "$FAKE/state"
  touch "$mark" ) > /dev/null 2>&1 &
`,
  systemctl: `#!/bin/sh
echo "systemctl $1" >> "$FAKE/calls"
case "$1" in
show) echo "ActiveState=$(cat "$FAKE/state" 2> /dev/null || echo inactive)"
  code=$(cat "$FAKE/code" 2> /dev/null || echo 0); echo "ExecMainStatus=$code"
  [ "$code" = 0 ] && echo Result=success || echo Result=exit-code;;
stop) rm -f "$FAKE/state";;
esac
`,
  journalctl: '#!/bin/sh\necho "12% written"\nexec sleep 9\n',
};

function fakeSystemd(t: Test) {
  const folder = t.testdir({ bin: PROGRAMS, fake: {}, run: {} });
  for (const name of Object.keys(PROGRAMS)) chmodSync(join(folder, 'bin', name), 0o755);
  const before = { ...process.env };
  t.teardown(() => {
    process.env = before;
  });
  const PATH = `${join(folder, 'bin')}:${before.PATH}`;
  process.env = { ...before, PATH, FAKE: join(folder, 'fake') };
  const calls = () => readFileSync(join(folder, 'fake/calls'), 'utf8').trimEnd().split('\n');
  const lines: string[] = [];
  const unit = (argv: string[], deadlineMs = 5000) => ({
    name: 'sno-write-disk',
    description: 'writes',
    argv,
    runFolder: join(folder, 'run'),
    signal: new AbortController().signal,
    deadlineMs,
    onLine: (line: string) => void lines.push(line),
  });
  return { folder, unit, calls, lines };
}

t.test('a program runs as a unit of its name, and its lines are passed on', async (t) => {
  const { folder, unit, calls, lines } = fakeSystemd(t);
  await runTransientUnit(
    unit(['/bin/sh', '-c', 'sleep 0.2; echo "a  b" > "$0"', join(folder, 'out')]),
  );
  t.equal(readFileSync(join(folder, 'out'), 'utf8'), 'a  b\n');
  const started = calls().find((call) => call.startsWith('systemd-run')) ?? '';
  t.match(started, '--unit=sno-write-disk --description=writes --no-block');
  t.match(started, '--property=TimeoutStartSec=5 ');
  t.match(started, ` --setenv=PATH=${process.env.PATH} `);
  t.strictSame(lines, ['12% written']);
  t.notOk(existsSync(join(folder, 'run/sno-write-disk.ended')), 'the mark is taken away');
});

t.test('a program that fails can be tried again', async (t) => {
  const { unit, calls } = fakeSystemd(t);
  for (const round of [1, 2]) {
    await t.rejects(runTransientUnit(unit(['/bin/sh', '-c', 'exit 5'])), {
      kind: 'retry',
      message: /sno-write-disk.service failed; found result exit-code, exit code 5/,
    });
    t.equal(calls().filter((call) => call.startsWith('systemd-run')).length, round);
  }
});

t.test('a unit that still runs, or has ended meanwhile, is joined', async (t) => {
  await t.test('runs', async (t) => {
    const { folder, unit, calls } = fakeSystemd(t);
    writeFileSync(join(folder, 'fake/state'), 'activating\n');
    setTimeout(() => writeFileSync(join(folder, 'run/sno-write-disk.ended'), ''), 100);
    await runTransientUnit(unit(['/bin/false']));
    t.notOk(
      calls().some((call) => call.startsWith('systemd-run')),
      'not started again',
    );
  });
  await t.test('has ended', async (t) => {
    const { folder, unit, calls } = fakeSystemd(t);
    writeFileSync(join(folder, 'fake/state'), 'active\n');
    writeFileSync(join(folder, 'run/sno-write-disk.ended'), '');
    await runTransientUnit(unit(['/bin/false']));
    t.notOk(
      calls().some((call) => call.startsWith('systemd-run')),
      'not started again',
    );
  });
  await t.test('a mark of a unit that is gone does not count', async (t) => {
    const { folder, unit, calls } = fakeSystemd(t);
    writeFileSync(join(folder, 'run/sno-write-disk.ended'), '');
    await runTransientUnit(unit(['/bin/true']));
    t.ok(calls().some((call) => call.startsWith('systemd-run')));
  });
});

t.test('the last look comes before a start, and not when a unit is joined', async (t) => {
  const { folder, unit, calls } = fakeSystemd(t);
  const isStarted = () => calls().some((call) => call.startsWith('systemd-run'));
  const refuse = async () => {
    t.notOk(isStarted());
    throw new Error('the disk is in use');
  };
  const refused = { ...unit(['/bin/true']), beforeStart: refuse };
  await t.rejects(runTransientUnit(refused), { message: 'the disk is in use' });
  t.notOk(isStarted());
  writeFileSync(join(folder, 'fake/state'), 'activating\n');
  setTimeout(() => writeFileSync(join(folder, 'run/sno-write-disk.ended'), ''), 100);
  await t.resolves(runTransientUnit(refused));
});

t.test('the wait has a deadline', async (t) => {
  const { unit } = fakeSystemd(t);
  await t.rejects(runTransientUnit(unit(['/bin/sleep', '1'], 200)), {
    kind: 'deadline',
    message: /sno-write-disk.ended to appear/,
  });
});

t.test(
  'the systemd of this machine',
  { skip: !hasSystemd && 'systemd does not run here' },
  async (t) => {
    const unit = (argv: string[]) => ({
      name: `sno-unit-test-${process.pid}`,
      description: 'unit test',
      argv,
      runFolder: t.testdirName,
      signal: AbortSignal.timeout(20_000),
      deadlineMs: 10_000,
      onLine: () => {},
    });
    t.testdir();
    await t.resolves(runTransientUnit(unit(['/bin/true'])));
    await t.rejects(runTransientUnit(unit(['/bin/sh', '-c', 'exit 5'])), {
      message: /exit code 5/,
    });
  },
);
