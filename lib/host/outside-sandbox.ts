import type { Limits } from '../base/wait/limits.ts';
import { run } from './command.ts';

/**
 * What no short program outside the sandbox of an agent's unit needs, whatever it is for, as properties of systemd-run: it
 * reaches no network, changes no file of the system, and gets no further rights. Its devices and capabilities are named
 * beside it.
 */
export const HARDENED = [
  'DevicePolicy=closed',
  'NoNewPrivileges=yes',
  'IPAddressDeny=any',
  'ProtectSystem=strict',
  'ProtectHome=yes',
  'ProtectProc=invisible',
  'ProtectClock=yes',
  'ProtectControlGroups=yes',
  'ProtectHostname=yes',
  'ProtectKernelLogs=yes',
  'ProtectKernelModules=yes',
  'LockPersonality=yes',
  'RestrictNamespaces=yes',
  'RestrictRealtime=yes',
  'RestrictSUIDSGID=yes',
  'SystemCallArchitectures=native',
  'SystemCallErrorNumber=EPERM',
  'SystemCallFilter=@system-service',
] as const;

/** Options of systemd-run for a program whose output and end are waited for. */
export const waitedFor = ({ deadlineMs }: Pick<Limits, 'deadlineMs'>): string[] => [
  ...['--quiet', '--pipe', '--wait', '--collect'],
  // Limits the program itself: killing systemd-run would leave it running.
  `--property=RuntimeMaxSec=${Math.ceil(deadlineMs / 1000)}`,
];

/**
 * Runs a short program as a unit of its own, outside the sandbox of the agent's
 * unit, and returns its output: for firmware variables and other things that the
 * sandbox of every agent denies. For programs that a restarted agent must find again, see
 * named-unit.ts and transient-unit.ts.
 */
export async function runOutsideSandbox(
  program: string,
  args: readonly string[],
  limits: Limits,
): Promise<string> {
  return run('systemd-run', [...waitedFor(limits), '--', program, ...args], limits);
}
