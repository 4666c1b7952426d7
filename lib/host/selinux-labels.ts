import { run } from './command.ts';
import { exists, readTextIfPresent } from './files.ts';
import type { HostPaths } from './paths.ts';

const RELABEL_MS = 60_000;
/** As `/etc/selinux/config` has it: SELINUXTYPE=targeted */
const POLICY = /^\s*SELINUXTYPE\s*=\s*(\w[\w-]*)\s*$/m;

/**
 * Gives files the labels that the policy has for their places, as Ignition does: a file that an agent makes has that of
 * its folder, and NetworkManager runs no script with it. Folders with everything below them. Does nothing where SELinux is off.
 *
 * @param paths as the system on the disk sees them
 * @param disk where they are; its own policy decides. Default: the host's
 */
export async function relabel(
  host: HostPaths,
  paths: readonly string[],
  signal: AbortSignal,
  disk: HostPaths = host,
): Promise<void> {
  if (paths.length === 0 || !(await exists(host.at('/sys/fs/selinux/enforce')))) return;
  const config = (await readTextIfPresent(disk.at('/etc/selinux/config'))) ?? '';
  const policy = POLICY.exec(config)?.[1] ?? 'targeted';
  const contexts = disk.at(`/etc/selinux/${policy}/contexts/files/file_contexts`);
  const below = disk.root === '/' ? [] : ['-r', disk.root];
  await run('setfiles', ['-F', '-0', ...below, '-f', '-', contexts], {
    input: paths.map((path) => `${disk.at(path)}\0`).join(''),
    signal,
    deadlineMs: RELABEL_MS,
  });
}
