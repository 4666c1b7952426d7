import type { Disk } from './disk.ts';
import type { ExecOptions, ExecResult, Exit, Machine } from './machine.ts';
import type { HostIdentity } from './network.ts';
import type { Teardown } from './teardown.ts';

/** A host from one boot to its end. To boot it again, start another one with the same disk. */
export interface Host {
  readonly identity: HostIdentity;
  /** Its file tree as the lab sees it; gone when the host has been stopped. */
  readonly rootDir: string;
  /** Process id of its PID 1 in the lab's namespace. */
  readonly leader: number;
  exec(argv: readonly string[], options: ExecOptions, signal: AbortSignal): Promise<ExecResult>;
  waitForExit(signal: AbortSignal): Promise<Exit>;
  /** Waits until every start job has ended; `running`, or `degraded` when a unit failed. */
  waitForBoot(timeoutMs: number, signal: AbortSignal): Promise<string>;
  /** What was not synced is lost; then every process ends at once, and the trees are unmounted. */
  powerCut(): Promise<void>;
  /** Orderly shutdown if it still runs; unmounts and frees everything. May be called again. */
  stop(): Promise<void>;
}

export interface HostOptions {
  readonly identity: HostIdentity;
  /** Folder on a real file system for this host's trees; emptied by whoever owns it. */
  readonly folder: string;
  /** Folder for its console and journal; `label` begins the file names. */
  readonly logs: string;
  readonly label: string;
  readonly disk?: Disk;
}

/** The host that a booted machine is; `loseWrites` is what a power cut does before anything else. */
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
