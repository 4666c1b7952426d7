import type { Limits } from '../../base/wait/limits.ts';
import { HARDENED, runOutsideSandbox, waitedFor } from '../outside-sandbox.ts';
import type { HostPaths } from '../paths.ts';
import type { Medium } from './find-media.ts';

/** What is done with a medium: the command of reconfigure that the process runs, and what it may do to the device. */
const ACCESS = { 'read-medium': 'r', 'write-medium': 'rw' } as const;

/**
 * What the process may: nothing but read, or also write, one device. It has no user that exists elsewhere, no
 * capability, no network, and sees no file of the agents but their executable.
 */
const sandbox = (executable: string, more: readonly string[] = []): string[] =>
  [
    'DynamicUser=yes',
    ...HARDENED,
    ...more,
    'TemporaryFileSystem=/var/lib:ro',
    `BindReadOnlyPaths=${executable}`,
    'CapabilityBoundingSet=',
    'PrivateNetwork=yes',
    // systemd-run takes no "none".
    'RestrictAddressFamilies=AF_UNIX',
    'ProtectKernelTunables=yes',
    'MemoryMax=512M',
    'MemorySwapMax=0',
    'TasksMax=64',
    'UMask=0077',
  ].map((property) => `--property=${property}`);

/** The arguments of systemd-run for a process that reads or writes a medium, and nothing else. */
export async function unprivileged(
  paths: HostPaths,
  command: keyof typeof ACCESS,
  { device, fileSystem }: Pick<Medium, 'device' | 'fileSystem'>,
  time: Limits,
): Promise<string[]> {
  // The agent's sandbox has no devices.
  const gid = (await runOutsideSandbox('stat', ['--format=%g', device], time)).trim();
  const executable = paths.onHost(paths.executable);
  return [
    ...waitedFor(time),
    ...sandbox(executable, [
      `SupplementaryGroups=${gid}`,
      `DeviceAllow=${device} ${ACCESS[command]}`,
    ]),
    ...['--', executable, 'reconfigure', command, fileSystem, device],
  ];
}

/** The same for an ISO that the process receives on standard input. */
export function unprivilegedImage(paths: HostPaths, time: Limits): string[] {
  const executable = paths.onHost(paths.executable);
  const command = ['--', executable, 'reconfigure', 'read-medium', 'iso9660', '-'];
  return [...waitedFor(time), ...sandbox(executable), ...command];
}
