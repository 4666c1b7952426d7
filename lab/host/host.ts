import type { Disk } from './disk.ts';
import type { ExecOptions, ExecResult, Exit, Machine } from './machine.ts';
import type { HostIdentity } from './network.ts';
import type { Teardown } from './teardown.ts';

/** A host during one boot. To boot it again, start another one with the same disk. */
export interface Host {
  readonly identity: HostIdentity;
  /** Its file tree as seen by the lab; deleted when the host has been stopped. */
  readonly rootDir: string;
  /** Process id of its PID 1 in the lab's namespace. */
  readonly leader: number;
  exec(argv: readonly string[], options: ExecOptions, signal: AbortSignal): Promise<ExecResult>;
  waitForExit(signal: AbortSignal): Promise<Exit>;
  /** Waits until all start jobs have finished; `running`, or `degraded` if a unit failed. */
  waitForBoot(timeoutMs: number, signal: AbortSignal): Promise<string>;
  /** Unsynced writes are lost; then all processes are killed and the trees unmounted. */
  powerCut(): Promise<void>;
  /** Orderly shutdown if it is still running; unmounts and frees everything. Idempotent. */
  stop(): Promise<void>;
}

export interface HostOptions {
  readonly identity: HostIdentity;
  /** Folder on a real file system for this host's trees; its owner empties it. */
  readonly folder: string;
  /** Folder for its console log and journal; `label` is the prefix of the file names. */
  readonly logs: string;
  readonly label: string;
  readonly disk?: Disk;
}

/** The host of a booted machine; `loseWrites` is the first action of a power cut. */
export function hostOf(
  machine: Machine,
  { identity }: HostOptions,
  teardown: Teardown,
  loseWrites: () => Promise<void>,
): Host {
  return {
    identity,
    rootDir: machine.options.root,
    leader: machine.leader,
    exec: (argv, options, signal) => machine.exec(argv, options, signal),
    waitForExit: (signal) => machine.waitForExit(signal),
    waitForBoot: (timeoutMs, signal) => machine.waitForBoot(timeoutMs, signal),
    powerCut: async () => {
      await loseWrites();
      await machine.kill();
      await teardown.run();
    },
    stop: () => teardown.run(),
  };
}
