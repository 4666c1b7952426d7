import { stat } from 'node:fs/promises';
import { exists } from '../../lib/host/files.ts';
import type { Disk } from './disk.ts';
import type { ExecOptions, ExecResult, Exit } from './exec.ts';
import type { Machine } from './machine.ts';
import type { HostIdentity } from './network.ts';
import type { Teardown } from './teardown.ts';

/** Where `--enter` goes, inside the lab's namespaces: a container's PID 1, or the terminal of a machine. */
export type Entrance = { readonly leader: number } | { readonly terminal: string };

/** A host during one boot. To boot it again, start another one with the same disk. */
export interface Host {
  readonly identity: HostIdentity;
  /** Its file tree as seen by the lab; deleted when the host has been stopped. */
  readonly rootDir: string;
  /** Its file tree as its own processes see it while it runs, with what it has mounted, such as /run. */
  readonly ownView: string;
  /** How a person gets a shell on it. */
  readonly entrance: Entrance;
  /** Makes that possible, for a host that is kept. */
  openEntrance(signal: AbortSignal): Promise<void>;
  /** Whether it has ended, in whatever way. */
  hasEnded(): Promise<boolean>;
  exec(argv: readonly string[], options: ExecOptions, signal: AbortSignal): Promise<ExecResult>;
  waitForExit(signal: AbortSignal): Promise<Exit>;
  /** Waits until all start jobs have finished; `running`, or `degraded` if a unit failed. */
  waitForBoot(timeoutMs: number, signal: AbortSignal): Promise<string>;
  /** Another number after each write of the host to its disk. */
  diskState(): Promise<bigint>;
  /** Unsynced writes are lost; then all processes are killed and the trees unmounted. */
  powerCut(): Promise<void>;
  /** Orderly shutdown if it is still running; unmounts and frees everything. Idempotent. */
  stop(): Promise<void>;
}

/** What a machine has at one boot; a container has none of it. */
export interface Hardware {
  /** What its own clock says at power-on, in UTC: `2027-11-23T10:00:00`. Default: now. */
  readonly clock?: string;
  readonly memoryMiB?: number;
  /** Folder with what its TPM keeps. Default: no TPM. */
  readonly tpm?: string;
  /** Whether its firmware looks for a boot server, too. */
  readonly networkBoot?: boolean;
  /** Whether its UEFI boots only what is signed. */
  readonly secureBoot?: boolean;
  /** Whether it has an adapter for a screen beside its serial console. */
  readonly screen?: boolean;
}

export interface HostOptions {
  readonly identity: HostIdentity;
  /** Folder on a real file system for this host's trees; its owner empties it. */
  readonly folder: string;
  /** Folder for its console log and journal; `label` is the prefix of the file names. */
  readonly logs: string;
  readonly label: string;
  readonly disk?: Disk;
  readonly hardware?: Hardware;
}

/** The host of a booted machine; `loseWrites` is the first action of a power cut. */
export function hostOf(
  machine: Machine,
  { identity, disk }: HostOptions,
  teardown: Teardown,
  loseWrites: () => Promise<void>,
): Host {
  return {
    identity,
    rootDir: machine.options.root,
    ownView: `/proc/${machine.leader}/root`,
    entrance: { leader: machine.leader },
    openEntrance: async () => undefined,
    hasEnded: async () => !(await exists(`/proc/${machine.leader}`)),
    exec: (argv, options, signal) => machine.exec(argv, options, signal),
    waitForExit: (signal) => machine.waitForExit(signal),
    waitForBoot: (timeoutMs, signal) => machine.waitForBoot(timeoutMs, signal),
    // When it was last written to: a loop device writes through to the file.
    diskState: async () =>
      disk === undefined ? 0n : (await stat(disk.file, { bigint: true })).mtimeNs,
    powerCut: async () => {
      await loseWrites();
      await machine.kill();
      await teardown.run();
    },
    stop: () => teardown.run(),
  };
}
