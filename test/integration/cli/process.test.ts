import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { agentsExecutable } from '../../unit/cli/agents-executable.ts';
import { GOOD } from '../../unit/cli/install-config-file.ts';
import { createArguments, payloadSources } from '../../unit/cli/payload-sources.ts';
import { sno } from '../../unit/cli/run-sno.ts';

const MAIN = join(import.meta.dirname, '../../../cli/main.ts');

/** Standard output of a shell command line that calls `sno`. */
async function shell(line: string, environment: NodeJS.ProcessEnv = process.env) {
  const script = `sno() { "${process.execPath}" "${MAIN}" "$@"; }; ${line}`;
  const child = spawn('bash', ['-c', script], {
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close');
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code: child.exitCode, out, err };
}

/**
 * Stubs of the programs that create an ISO: xorriso ignores the signals in `traps`, starts a child
 * and writes the ids of both to `pids`. The tests check how `sno` ends the programs that it started.
 */
function stubbornPrograms(folder: string, traps: string): void {
  mkdirSync(folder);
  const write = (name: string, lines: readonly string[]) => {
    writeFileSync(join(folder, name), ['#!/bin/bash', ...lines, ''].join('\n'));
    chmodSync(join(folder, name), 0o755);
  };
  write('coreos-installer', ['echo "No embedded Ignition config" >&2', 'exit 1']);
  write('xorriso', [
    ...(traps === '' ? [] : [`trap '' ${traps}`]),
    'sleep 1000 &',
    `echo "$$ $!" >"${folder}/pids.new" && mv "${folder}/pids.new" "${folder}/pids"`,
    'wait',
  ]);
}

interface RunningIso {
  child: ChildProcess;
  dir: string;
  /** Resolves with the ids of xorriso and of its child once both are running. */
  started: Promise<number[]>;
  ended: Promise<{ code: number | null; err: string }>;
}

async function startIso(t: Pick<Test, 'testdir'>, traps: string): Promise<RunningIso> {
  const dir = t.testdir({
    'install-config.yaml': GOOD,
    'live.iso': 'a live ISO',
    'sno-agents': agentsExecutable(),
    sources: {},
  });
  const { arguments: given } = await payloadSources(join(dir, 'sources'));
  const made = await sno(createArguments(join(dir, 'payload'), given));
  if (made.code !== 0) throw new Error(made.err);
  const programs = join(dir, 'programs');
  stubbornPrograms(programs, traps);
  const options = ['--dir', dir, '--iso', join(dir, 'live.iso'), '--payload', join(dir, 'payload')];
  const child = spawn(
    process.execPath,
    [MAIN, 'create', 'single-node-iso', ...options, '--agents-executable', join(dir, 'sno-agents')],
    {
      env: { ...process.env, PATH: `${programs}:${process.env.PATH}` },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  const ended = Promise.all([text(child.stderr), once(child, 'close')]).then(([err]) => ({
    code: child.exitCode,
    err,
  }));
  return { child, dir, started: pidsIn(join(programs, 'pids'), ended), ended };
}

async function pidsIn(path: string, ended: RunningIso['ended']): Promise<number[]> {
  let result: Awaited<RunningIso['ended']> | undefined;
  void ended.then((value) => {
    result = value;
  });
  for (;;) {
    try {
      return readFileSync(path, 'utf8').trim().split(' ').map(Number);
    } catch {
      if (result !== undefined) throw new Error(`sno ended early: ${result.err}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

t.test('a pipe that the shell makes is an input', async (t) => {
  const config = `echo '{"ignition":{"version":"3.4.0"}}'`;
  t.match(await shell(`sno verify ignition <(sleep 1; ${config})`), { code: 0, err: '' });
  t.match(await shell(`${config} | sno verify ignition /dev/stdin`), { code: 0, err: '' });
});

for (const [signal, code, traps] of [
  ['SIGINT', 130, 'TERM INT HUP'],
  ['SIGTERM', 143, ''],
  ['SIGHUP', 129, ''],
] as const) {
  t.test(`${signal} ends all started programs, and leaves no partial file`, async (t) => {
    const { child, dir, started, ended } = await startIso(t, traps);
    const pids = await started;
    t.equal(pids.length, 2);
    t.ok(
      readdirSync(dir).some((name) => name.startsWith('.single-node.iso.')),
      'a partial file',
    );
    child.kill(signal);
    const { code: found, err } = await ended;
    t.equal(found, code);
    t.equal(
      err.replace(/^Notice: .*\n/gm, ''),
      `sno: create single-node-iso was stopped by ${signal}; partial output was removed\n`,
    );
    t.same(pids.filter(isRunning), [], 'no process is left');
    t.notOk(readdirSync(dir).some((name) => name.includes('.iso.')));
  });
}

t.test('a second signal ends everything immediately', async (t) => {
  const { child, started, ended } = await startIso(t, 'TERM INT');
  const pids = await started;
  child.kill('SIGINT');
  // Ignored if it arrives before the first one was handled, so it is repeated until the end.
  const again = setInterval(() => child.kill('SIGINT'), 20);
  await ended;
  clearInterval(again);
  t.equal(child.signalCode, 'SIGINT');
  // They were killed with it, and end when the machine has time for that.
  const deadline = Date.now() + 20_000;
  while (pids.some(isRunning) && Date.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  t.same(pids.filter(isRunning), [], 'no process is left');
});

const OUTPUTS: readonly { line: string; code: number; err: string }[] = [
  { line: 'set -o pipefail; sno create payload --help | true', code: 0, err: '' },
  {
    line: 'set -o pipefail; sno create payload --help | head -1 >/dev/null',
    code: 0,
    err: '',
  },
  {
    line: 'sno --help >/dev/full',
    code: 1,
    err: 'sno: standard output cannot be written: no space left on device (ENOSPC)\n',
  },
  { line: 'sno --help >/dev/full 2>/dev/full', code: 1, err: '' },
  { line: 'sno creat 2>/dev/full', code: 2, err: '' },
  { line: 'set -o pipefail; sno creat 2>&1 >/dev/null | true', code: 2, err: '' },
];
for (const { line, code, err } of OUTPUTS) {
  t.test(line, async (t) => t.has(await shell(line), { code, err }));
}

t.test('a closed output ends a running command silently', async (t) => {
  const dir = t.testdir({ sources: {} });
  const { arguments: given } = await payloadSources(join(dir, 'sources'));
  const args = createArguments(join(dir, 'payload'), given).map((arg) => `'${arg}'`);
  const { code, err } = await shell(`set -o pipefail; sno ${args.join(' ')} | true`);
  t.equal(err, '');
  t.ok(code === 0 || code === 141, `${code}`);
});
