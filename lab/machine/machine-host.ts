import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { Failure } from '../../lib/base/errors/failure.ts';
import { type Background, hasEnded } from '../host/background.ts';
import { quickly } from '../host/command.ts';
import { type ExecOptions, type ExecResult, type Exit, unlessAborted } from '../host/exec.ts';
import type { Entrance, Host } from '../host/host.ts';
import { teardownSignal } from '../host/mount.ts';
import type { HostIdentity } from '../host/network.ts';
import type { Teardown } from '../host/teardown.ts';
import { patient } from '../patience.ts';
import { Devices } from './devices.ts';
import type { DiskServer } from './disk-server.ts';
import type { GuestAgent } from './guest-agent.ts';
import { openShell } from './guest-services.ts';
import type { GuestTree } from './guest-tree.ts';
import type { Monitor } from './monitor.ts';
import { IN_FOLDER } from './qemu-arguments.ts';

const ORDERLY_STOP_MS = 60_000;
const SHELL_MS = 10_000;

/** In qemu's words, why a machine went down. */
const EXITS: Readonly<Record<string, Exit>> = {
  'guest-reset': 'reboot',
  'guest-shutdown': 'poweroff',
};

const blockStatsSchema = z.array(
  z.object({ qdev: z.string().optional(), stats: z.object({ wr_operations: z.number() }) }),
);

export interface MachineParts {
  readonly identity: HostIdentity;
  readonly folder: string;
  readonly qemu: Background;
  readonly monitor: Monitor;
  readonly agent: GuestAgent;
  readonly tree: GuestTree;
  readonly disk: DiskServer | undefined;
  readonly teardown: Teardown;
}

/** One boot of a machine, from its power-on to its end: a process of qemu. */
export class MachineHost implements Host {
  readonly identity: HostIdentity;
  /** After its end, it has what the agents have left in their folders. */
  readonly rootDir: string;
  readonly entrance: Entrance;
  readonly devices: Devices;
  readonly #parts: MachineParts;
  readonly #ended: Promise<Exit>;

  constructor(parts: MachineParts) {
    const { identity, folder, monitor } = parts;
    this.#parts = parts;
    this.identity = identity;
    this.rootDir = parts.tree.path;
    this.entrance = { terminal: join(folder, IN_FOLDER.shell) };
    this.devices = new Devices(monitor);
    this.#ended = this.#exit();
    // Whoever waits for it sees the error; nobody has to.
    this.#ended.catch(() => undefined);
  }

  /** The same: the mount shows what the guest's own processes see. */
  get ownView(): string {
    return this.rootDir;
  }

  async hasEnded(): Promise<boolean> {
    return hasEnded(this.#parts.qemu.child);
  }

  exec(
    argv: readonly string[],
    { timeoutMs, input }: ExecOptions,
    signal: AbortSignal,
  ): Promise<ExecResult> {
    return this.#parts.agent.exec(argv, { timeoutMs: patient(timeoutMs), input }, signal);
  }

  waitForExit(signal: AbortSignal): Promise<Exit> {
    return unlessAborted(this.#ended, signal);
  }

  async waitForBoot(timeoutMs: number, signal: AbortSignal): Promise<string> {
    const wait = ['systemctl', 'is-system-running', '--wait'];
    return (await this.exec(wait, { timeoutMs }, signal)).stdout.trim();
  }

  /** By qemu's own count: what is written is not in the file before it is flushed. */
  async diskState(): Promise<bigint> {
    const stats = blockStatsSchema.parse(await this.#parts.monitor.execute('query-blockstats'));
    // Not the firmware's variables.
    const disks = stats.filter(({ qdev }) => qdev?.includes('/disk-'));
    if (disks.length === 0) throw new Failure('fatal', 'qemu counts no writes to a disk');
    return disks.reduce((sum, { stats }) => sum + BigInt(stats.wr_operations), 0n);
  }

  /** Whether every write to its disk ends with an I/O error from now on. */
  async failWrites(fails: boolean): Promise<void> {
    await this.#parts.disk?.failWrites(fails);
  }

  async powerCut(): Promise<void> {
    const { qemu, disk, teardown } = this.#parts;
    // The disk first: what the machine still writes then is not written.
    await disk?.cutPower();
    qemu.child.kill('SIGKILL');
    await qemu.ended;
    await teardown.run();
  }

  stop(): Promise<void> {
    return this.#parts.teardown.run();
  }

  /** By its power button; by force at the deadline. */
  async shutDown(): Promise<void> {
    const { qemu } = this.#parts;
    if (!(await this.hasEnded())) {
      await this.devices.pressPowerButton().catch(() => undefined);
      const patience = new AbortController();
      const late = sleep(patient(ORDERLY_STOP_MS), 'late', { signal: patience.signal });
      const which = await Promise.race([this.#ended, late.catch(() => 'stopped')]);
      patience.abort();
      if (which === 'late') qemu.child.kill('SIGKILL');
    }
    await this.#ended;
  }

  /** Makes a shell of root at the entrance. */
  openEntrance(signal: AbortSignal): Promise<void> {
    return openShell(this.#parts.agent, patient(SHELL_MS), signal);
  }

  async #exit(): Promise<Exit> {
    const { qemu, monitor, tree, folder } = this.#parts;
    await qemu.ended;
    const exit = EXITS[monitor.shutdownReason ?? ''] ?? 'killed';
    await tree.unmount();
    const archive = join(folder, IN_FOLDER.kept);
    // The lab may have been too late with its power button: nobody reads it then.
    if (exit === 'poweroff') await unpackKept(archive, tree.path).catch(() => undefined);
    if (exit === 'reboot') {
      // Some hosts are looked at no further. Whoever needs the files misses them by name, after this reason.
      await unpackKept(archive, tree.path).catch((error: unknown) =>
        process.emitWarning(`What ${archive} has of the agents is damaged: ${String(error)}`),
      );
    }
    return exit;
  }
}

async function unpackKept(archive: string, target: string): Promise<void> {
  if ((await stat(archive)).size === 0) return;
  await quickly('tar', ['--extract', '--file', archive, '--directory', target], teardownSignal());
}

/** For what only a machine can do. */
export function asMachine(host: Host): MachineHost {
  if (host instanceof MachineHost) return host;
  throw new Failure('usage', 'this needs a machine', { fix: 'Run the lab with --machine vm' });
}
