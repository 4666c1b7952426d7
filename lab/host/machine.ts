import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { Failure } from '../../lib/base/errors/failure.ts';
import { holds, lookUntil, waitUntil } from '../../lib/base/wait/wait-until.ts';
import { exists, readTextIfPresent } from '../../lib/host/files.ts';
import { type Background, startInBackground } from './background.ts';
import { startInCgroup } from './cgroup.ts';
import {
  ENVIRONMENT,
  type ExecOptions,
  type ExecResult,
  type Exit,
  KILLED_BY_TIMEOUT,
  unlessAborted,
} from './exec.ts';
import { followJournal } from './journal.ts';
import type { Teardown } from './teardown.ts';

export interface Bind {
  readonly source: string;
  readonly target: string;
  readonly readOnly?: boolean;
}

export interface MachineOptions {
  /** Unique on this machine; also the cgroup's name. */
  readonly id: string;
  readonly name: string;
  /** The tree whose systemd is started. */
  readonly root: string;
  /** Path of its network namespace. */
  readonly network: string;
  readonly binds: readonly Bind[];
  /** Files for the host's console output and its journal. */
  readonly consoleLog: string;
  readonly journalLog: string;
}

const CONTINUE_EVERY_MS = 1_000;
const ORDERLY_STOP_MS = 60_000;
const BOOT_MS = 30_000;
/** The units that compare boots: each sees the boot id of this boot. */
const BOOT_ID: readonly Bind[] = [
  'sno-trial',
  'sno-update',
  'sno-rotate',
  'sno-identity',
  'sno-backup-restore',
  'reconfigure',
].map((unit) => ({
  source: join(import.meta.dirname, 'boot-id.conf'),
  target: `/run/systemd/system/${unit}.service.d/10-boot-id.conf`,
  readOnly: true,
}));
/** systemd-nspawn's exit code with --keep-unit if the host requested a reboot. */
const REBOOT_EXIT_CODE = 133;

/** One boot of a host, from start to end: systemd as PID 1 in a container. */
export class Machine {
  readonly options: MachineOptions;
  readonly #nspawn: Background;
  readonly #ended: Promise<Exit>;
  #leader = 0;

  private constructor(options: MachineOptions, nspawn: Background) {
    this.options = options;
    this.#nspawn = nspawn;
    this.#ended = nspawn.ended.then((exitCode) => {
      if (exitCode === REBOOT_EXIT_CODE) return 'reboot';
      return exitCode === 0 ? 'poweroff' : 'killed';
    });
  }

  /** Boots the tree; returns as soon as its PID 1 is running. */
  static async boot(
    options: MachineOptions,
    teardown: Teardown,
    signal: AbortSignal,
  ): Promise<Machine> {
    signal.throwIfAborted();
    const nspawn = await startInCgroup(options.id, () =>
      startInBackground('nsenter', inNetwork(options), options.consoleLog, {
        SYSTEMD_NSPAWN_API_VFS_WRITABLE: '1',
      }),
    );
    const machine = new Machine(options, nspawn);
    const journal = followJournal(options, teardown);
    teardown.add(`stop ${options.name}`, () => machine.stop());
    machine.#leader = await machine.#waitForLeader(signal);
    journal.start(machine.#leader);
    return machine;
  }

  /** Process id of the host's PID 1 in this namespace. */
  get leader(): number {
    return this.#leader;
  }

  /** Waits for the host to end. Rejects if `signal` aborts first. */
  waitForExit(signal: AbortSignal): Promise<Exit> {
    return unlessAborted(this.#ended, signal);
  }

  /** Runs a program inside the host; returns its result, whatever its exit code. */
  async exec(
    argv: readonly string[],
    { timeoutMs, input }: ExecOptions,
    signal: AbortSignal,
  ): Promise<ExecResult> {
    // Kills the program itself at the deadline; a signal to nsenter would not reach it.
    const deadline = ['timeout', '--signal=KILL', `${timeoutMs / 1000}`];
    const args = [...enterArguments(this.#leader), ...deadline, ...argv];
    const entered = execa('nsenter', args, {
      reject: false,
      cancelSignal: signal,
      timeout: timeoutMs + 2_000,
      maxBuffer: 64 * 1024 * 1024,
      ...(input === undefined ? { stdin: 'ignore' } : { input }),
    });
    // At the host's shutdown nsenter stops with its program, and would never reap it: the host would not end.
    const goOn = setInterval(() => entered.kill('SIGCONT'), CONTINUE_EVERY_MS);
    const { stdout, stderr, exitCode, timedOut } = await entered.finally(() => clearInterval(goOn));
    if (timedOut || exitCode === KILLED_BY_TIMEOUT) {
      throw new Failure('deadline', `${argv.join(' ')} did not end on ${this.options.name}`, {
        expected: `within ${timeoutMs / 1000}s`,
        found: stderr.slice(-500),
      });
    }
    signal.throwIfAborted();
    return { stdout, stderr, exitCode: exitCode ?? 255 };
  }

  /** Waits until all start jobs have finished; `running`, or `degraded` if a unit failed. */
  async waitForBoot(timeoutMs: number, signal: AbortSignal): Promise<string> {
    const until = Date.now() + timeoutMs;
    // systemctl does not wait for systemd itself, so wait for its socket first.
    const socket = `/proc/${this.#leader}/root/run/systemd/private`;
    const state = `systemd did not start on ${this.options.name}`;
    await waitUntil(
      holds(() => exists(socket), state),
      { signal, deadlineMs: timeoutMs, everyMs: 100, late: () => new Failure('deadline', state) },
    );
    const wait = ['systemctl', 'is-system-running', '--wait'];
    const { stdout } = await this.exec(wait, { timeoutMs: until - Date.now() }, signal);
    return stdout.trim();
  }

  /** Orderly shutdown, forced at its deadline. */
  async stop(): Promise<void> {
    // nspawn forwards SIGTERM to the host's PID 1 as a power-off request.
    this.#nspawn.child.kill('SIGTERM');
    const patience = new AbortController();
    const late = sleep(ORDERLY_STOP_MS, 'late', { signal: patience.signal }).catch(() => 'stopped');
    if ((await Promise.race([this.#ended, late])) === 'late') await this.kill();
    patience.abort();
  }

  /** Kills all processes of the host. */
  async kill(): Promise<void> {
    try {
      process.kill(this.#leader, 'SIGKILL');
    } catch {
      // It ended in the meantime.
    }
    this.#nspawn.child.kill('SIGKILL');
    await this.#ended;
  }

  async #waitForLeader(signal: AbortSignal): Promise<number> {
    const pid = this.#nspawn.child.pid;
    const leader = async () => {
      if (pid === undefined || this.#nspawn.child.exitCode !== null) return { met: undefined };
      const children = await readTextIfPresent(`/proc/${pid}/task/${pid}/children`);
      for (const child of (children ?? '').split(' ').filter(Boolean)) {
        const name = await readFile(`/proc/${child}/comm`, 'utf8').catch(() => '');
        if (name.trim() === 'systemd') return { met: Number(child) };
      }
      return { state: 'it has no systemd yet' };
    };
    const seen = await lookUntil<number | undefined>(leader, {
      signal,
      deadlineMs: BOOT_MS,
      everyMs: 50,
    });
    if ('met' in seen && seen.met !== undefined) return seen.met;
    const log = await readTextIfPresent(this.options.consoleLog);
    throw new Failure('fatal', `${this.options.name} did not boot`, {
      found: log?.split('\n').slice(-5).join(' | ') ?? 'nothing on its console',
    });
  }
}

/** Arguments of nsenter for a shell or program inside the host. */
export function enterArguments(leader: number): string[] {
  const namespaces = ['-m', '-u', '-i', '-n', '-p', '-C', '-r', '-w'];
  return ['-t', `${leader}`, ...namespaces, '--', 'env', '-i', ...ENVIRONMENT];
}

/**
 * nspawn starts in the host's network namespace and stays there. If it were told to enter one
 * itself, it would mount its own /sys, in which udev finds no `eth0`.
 */
function inNetwork(options: MachineOptions): string[] {
  return [`--net=${options.network}`, '--', 'systemd-nspawn', ...nspawnArguments(options)];
}

function nspawnArguments({ name, root, binds }: MachineOptions): string[] {
  return [
    // No machined and no scope: the lab has its own /run/systemd.
    ...['--keep-unit', '--register=no', '--settings=no', '--quiet'],
    ...['--boot', `--directory=${root}`, `--machine=${name}`],
    // The real name comes from Ignition or DHCP, as on a real machine.
    ...['--hostname=localhost', '--console=read-only'],
    ...['--link-journal=no', '--resolv-conf=off', '--timezone=off'],
    // The kubelet, containerd and runc need more rights than a container normally has.
    ...['--capability=all', '--system-call-filter=@known bpf keyctl add_key'],
    // The kubelet's OOM watcher requires it.
    '--bind=/dev/kmsg',
    ...[...BOOT_ID, ...binds].map(({ source, target, readOnly = false }) => {
      return `--bind${readOnly ? '-ro' : ''}=${source}:${target}`;
    }),
  ];
}
