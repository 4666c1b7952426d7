import { EventEmitter, once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { identifyProcess, isAlive } from '../../../lib/host/process.ts';
import { runTransientUnit, type TransientUnit } from '../../../lib/host/transient-unit.ts';
import { testHost } from '../../unit/agents/host/host.ts';
import { thrownBy } from '../../unit/base/errors/thrown-by.ts';
import { recordLimits } from '../../unit/host/timers.ts';

const hasSystemd = existsSync('/run/systemd/system');
const NAME = 'sno-write-disk';

/** Emulates systemd for one unit, whose state is in files of the host. */
const SYSTEMD_RUN = `
for word; do case "$word" in --property=ExecStopPost=/usr/bin/touch*) mark=\${word##* };; esac; done
while [ "$1" != -- ]; do shift; done; shift
echo activating > "$ROOT/state"
( "$@" > "$ROOT/output" 2>&1; code=$?; echo $code > "$ROOT/code"
  [ $code = 0 ] && echo active > "$ROOT/state" || echo failed > "$ROOT/state"
  touch "$mark" ) > /dev/null 2>&1 &`;
const SYSTEMCTL = `
case "$1" in
show) echo "ActiveState=$(cat "$ROOT/state" 2> /dev/null || echo inactive)"
  code=$(cat "$ROOT/code" 2> /dev/null || echo 0); echo "ExecMainStatus=$code"
  [ "$code" = 0 ] && echo Result=success || echo Result=exit-code; echo InvocationID=4f1d;;
stop) rm -f "$ROOT/state";;
esac`;
const JOURNALCTL = `
if [ "$1" = _SYSTEMD_INVOCATION_ID=4f1d ]; then exec tail -n 5 "$ROOT/output"; fi
echo $$ > "$ROOT/journal.pid"
printf '  12%% written \\n\\n'
exec sleep 100`;

function fakeSystemd(t: Test) {
  const { programs, root } = testHost(t);
  programs.give('systemd-run', SYSTEMD_RUN);
  programs.give('systemctl', SYSTEMCTL);
  programs.give('journalctl', JOURNALCTL);
  const runFolder = join(root, 'run/units');
  const mark = join(runFolder, `${NAME}.ended`);
  const lines: string[] = [];
  const printed = new EventEmitter();
  const unit = (argv: readonly string[], more: Partial<TransientUnit> = {}): TransientUnit => ({
    name: NAME,
    description: 'writes',
    argv,
    runFolder,
    signal: AbortSignal.timeout(120_000),
    deadlineMs: 60_000,
    onLine: (line: string) => {
      lines.push(line);
      writeFileSync(join(root, 'line'), line);
      printed.emit('line');
    },
    ...more,
  });
  /** Puts the unit in that state, with or without its end marker. */
  const isIn = (state: string | undefined, isMarked: boolean) => {
    if (state !== undefined) writeFileSync(join(root, 'state'), `${state}\n`);
    mkdirSync(runFolder, { recursive: true });
    if (isMarked) writeFileSync(mark, '');
  };
  const starts = () => programs.calls('systemd-run').length;
  return { programs, root, unit, lines, printed, mark, isIn, starts };
}

t.test('a program runs as a unit of that name, and its output is passed on', async (t) => {
  const { programs, root, unit, lines, mark } = fakeSystemd(t);
  const limits = recordLimits(t);
  // It ends when the first line has been read.
  const script = 'until [ -e "$0/line" ]; do sleep 0.05; done; echo "a  b" > "$0/out"';
  await runTransientUnit(unit(['/bin/sh', '-c', script, root], { deadlineMs: 60_400 }));
  t.equal(readFileSync(join(root, 'out'), 'utf8'), 'a  b\n');
  t.same(lines, ['12% written']);
  const systemctl = programs.calls().filter((call) => !call.startsWith('journalctl'));
  t.same(systemctl, [
    `systemctl show ${NAME}.service --property=ActiveState`,
    `systemctl stop ${NAME}.service`,
    `systemctl reset-failed ${NAME}.service`,
    [
      `systemd-run --unit=${NAME} --description=writes --no-block --quiet --remain-after-exit`,
      '--property=Type=oneshot --property=TimeoutStartSec=61',
      `--setenv=PATH=${process.env.PATH}`,
      // In both cases: it has ended, successfully or not.
      `--property=ExecStopPost=/usr/bin/touch ${mark}`,
      `--property=ExecStartPost=/usr/bin/touch ${mark}`,
      `-- /bin/sh -c ${script} ${root}`,
    ].join(' '),
    `systemctl show ${NAME}.service --property=Result,ExecMainStatus,InvocationID`,
    `systemctl stop ${NAME}.service`,
    `systemctl reset-failed ${NAME}.service`,
  ]);
  const clear = [60_000, 30_000];
  t.same(limits, [30_000, ...clear, 30_000, 30_000, ...clear], 'of systemctl and systemd-run');
  t.same(programs.calls('journalctl'), [`journalctl -u ${NAME} -f -n 0 -o cat`]);
  t.notOk(existsSync(mark), 'the mark is deleted');
  const journal = await identifyProcess(Number(readFileSync(join(root, 'journal.pid'), 'utf8')));
  while (journal !== undefined && (await isAlive(journal)));
});

t.test('a failed program can be retried', async (t) => {
  const { unit, starts } = fakeSystemd(t);
  for (const round of [1, 2]) {
    t.match(await thrownBy(runTransientUnit(unit(['/bin/sh', '-c', 'exit 5']))), {
      kind: 'retry',
      code: 'command-failed',
      what: `${NAME}.service failed`,
      details: { found: 'result exit-code, exit code 5', fix: `See "journalctl -u ${NAME}".` },
    });
    t.equal(starts(), round);
  }
});

t.test('a failure says what the program printed last', async (t) => {
  const { unit } = fakeSystemd(t);
  const script =
    'for n in 1 2 3 4; do echo "$n% written"; done; echo; echo "  No space left"; exit 1';
  t.match(await thrownBy(runTransientUnit(unit(['/bin/sh', '-c', script]))), {
    details: {
      found: 'result exit-code, exit code 1: 2% written; 3% written; 4% written; No space left',
    },
  });
  const endless = 'head -c 2000 /dev/zero | tr "\\0" x; exit 1';
  t.match(await thrownBy(runTransientUnit(unit(['/bin/sh', '-c', endless]))), {
    details: { found: /^result exit-code, exit code 1: x{500}$/ },
  });
  const telling = 'echo "GET https://user:hunter2@mirror.example.test failed"; exit 1';
  t.match(await thrownBy(runTransientUnit(unit(['/bin/sh', '-c', telling]))), {
    details: { found: /https:\/\/user:<redacted>@mirror/ },
  });
});

t.test('a unit that was killed has failed, whatever its exit code', async (t) => {
  const { programs, unit, isIn } = fakeSystemd(t);
  for (const [Result, ExecMainStatus] of [
    ['timeout', '0'],
    ['success', '1'],
  ]) {
    isIn('active', true);
    programs.give('systemctl', 'echo ActiveState=active');
    programs.unless('systemctl', `echo Result=${Result}; echo ExecMainStatus=${ExecMainStatus}`);
    t.match(await thrownBy(runTransientUnit(unit(['/bin/false']))), {
      details: { found: `result ${Result}, exit code ${ExecMainStatus}` },
    });
  }
});

t.test('a unit of an earlier attempt is joined', async (t) => {
  const { unit, isIn, starts, printed } = fakeSystemd(t);
  isIn('activating', false);
  once(printed, 'line').then(() => isIn('active', true));
  await runTransientUnit(unit(['/bin/false']));
  t.equal(starts(), 0, 'one that runs is not started again');
  isIn('active', true);
  await runTransientUnit(unit(['/bin/false']));
  t.equal(starts(), 0, 'one that has ended since is not, either');
});

t.test('other units are not joined', async (t) => {
  const table: [state: string | undefined, isMarked: boolean][] = [
    [undefined, true],
    ['active', false],
    ['failed', true],
    ['deactivating', true],
  ];
  for (const [state, isMarked] of table) {
    const { unit, isIn, starts } = fakeSystemd(t);
    isIn(state, isMarked);
    await runTransientUnit(unit(['/bin/true']));
    t.equal(starts(), 1, `${state}, ${isMarked}`);
  }
});

t.test('the last check is made before a start, and not when a unit is joined', async (t) => {
  const { unit, isIn, starts } = fakeSystemd(t);
  let looks = 0;
  const beforeStart = async () => {
    looks++;
    t.equal(starts(), 0);
    throw new Error('the disk is in use');
  };
  const refused = unit(['/bin/true'], { beforeStart });
  await t.rejects(runTransientUnit(refused), { message: 'the disk is in use' });
  t.equal(starts(), 0);
  isIn('active', true);
  await t.resolves(runTransientUnit(refused));
  t.equal(looks, 1);
});

t.test('the wait has a deadline', async (t) => {
  const { unit, isIn, mark } = fakeSystemd(t);
  isIn('activating', false);
  await t.rejects(runTransientUnit(unit([], { deadlineMs: 1 })), {
    kind: 'deadline',
    message: `waited 0s for ${mark} to appear`,
  });
});

t.test('a stop leaves the unit running', async (t) => {
  const { programs, unit, isIn, printed } = fakeSystemd(t);
  isIn('activating', false);
  const stop = new AbortController();
  once(printed, 'line').then(() => stop.abort(new Error('told to stop')));
  await t.rejects(runTransientUnit(unit([], { signal: stop.signal })), { message: 'told to stop' });
  t.same(programs.calls('systemctl stop'), []);
  await t.rejects(runTransientUnit(unit([], { signal: stop.signal })), /stopped/);
});

t.test('a unit without a journal still ends', async (t) => {
  const { programs, unit } = fakeSystemd(t);
  programs.give('journalctl', 'exit 1');
  await t.resolves(runTransientUnit(unit(['/bin/true'])));
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
      signal: AbortSignal.timeout(120_000),
      deadlineMs: 60_000,
      onLine: () => {},
    });
    t.testdir();
    await t.resolves(runTransientUnit(unit(['/bin/true'])));
    await t.rejects(runTransientUnit(unit(['/bin/sh', '-c', 'exit 5'])), {
      message: /exit code 5/,
    });
  },
);
